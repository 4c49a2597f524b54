"""The API, also as MCP tools: the same detector for programs."""

from typing import Any

import gradio as gr
from gradio.events import api

from app.panels.detect.handlers import Handlers
from app.refusal import refusal
from core.context.asked import find, known_detector
from core.context.detector import SHIPPED
from core.context.export import record
from core.errors import StudioError

_LIMIT: dict[str, Any] = {"concurrency_id": "detect", "concurrency_limit": 2}
_NO_PROOF = "A sentence that is not flagged may still hold a secret; the card says how often that happens."


def build(does: Handlers) -> None:
    """The named endpoints: detect and detectors."""

    def detect(
        text: str,
        threshold: float = 0.0,
        detector: str = SHIPPED,
        only_flagged: bool = False,
        request: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Find the sentences of a text that give or ask for a secret, by their context and not by format.

        Gives every sentence with its text, start and end (in characters), score and whether it is flagged.

        Args:
            text: the text to look at, at most 200,000 characters.
            threshold: flag a sentence from this score on; 0 means the detector's own threshold.
            detector: `shipped`, or one of the names that `detectors` lists.
            only_flagged: leave out the sentences that are not flagged.
        """
        try:
            with does.noted(request, "detect", text):
                chosen = known_detector(detector, does.studio.settings)
                found = find(text, chosen.at(threshold) if threshold else chosen)
        except StudioError as error:
            raise refusal(error) from error
        return {
            "sentences": [record(each) for each in found.sentences if each.flagged or not only_flagged],
            "count": len(found.sentences),
            "flagged": found.flagged,
            "threshold": found.detector.threshold,
            "detector": detector,
            "note": _NO_PROOF,
        }

    def detectors() -> list[str]:
        """The context detectors that `detect` can use: the shipped one and those that were saved here."""
        return [name for _, name in does.choices(None)]

    api(detect, api_name="detect", **_LIMIT)
    api(detectors, api_name="detectors", **_LIMIT)
