"""The API, also as MCP tools: the same rewriting for programs."""

from typing import Any

import gradio as gr
from gradio.events import api

from app.panels.sanitize.handlers import Handlers
from app.refusal import refusal
from core.errors import InputError, StudioError
from core.sanitize import calibrate as calibrated
from core.sanitize import epsilon_for
from core.sanitize.facts import facts
from core.sanitizing import MDP, SMDP, Asked, check_text

_LIMIT: dict[str, Any] = {"concurrency_id": "sanitize", "concurrency_limit": 2}
_DRAWS = 50  # of each of 50 words


def build(does: Handlers) -> None:
    """The named endpoints: sanitize and calibrate."""

    def sanitize(
        text: str,
        mechanism: str = SMDP,
        policy: str = "digits",
        epsilon: float = 12.0,
        noise: str = "euclidean",
        own_words: str = "",
        consistent: bool = False,
        request: gr.Request | None = None,
    ) -> dict[str, Any]:
        """Rewrite the sensitive words of a text under metric differential privacy, word by word.

        Gives the new text, counts of what was done, and the facts that belong beside it: what is guaranteed
        and what is left open. Every call draws anew, and calls on the same text add up.

        Args:
            text: the text to rewrite, at most 20,000 characters.
            mechanism: smdp rewrites what the policy calls sensitive, mdp every word.
            policy: for smdp, one or more of digits, patterns, own, context, with commas.
            epsilon: noise for each word; small hides more, large keeps more. See `calibrate`.
            noise: euclidean, mahalanobis or tem.
            own_words: for the policy own: one word, phrase or /regular expression/ on each line.
            consistent: equal words of the text share one draw.
        """
        try:
            with does.noted(request, "sanitize", text):
                return _sanitized(
                    does, text, _asked(mechanism, policy, epsilon, noise, own_words, consistent)
                )
        except StudioError as error:
            raise refusal(error) from error

    def calibrate(
        epsilon: float = 12.0, noise: str = "euclidean", deniability: float = 0.0
    ) -> dict[str, Any]:
        """What an epsilon means: how often a common word stays itself and how many words it becomes.

        Args:
            epsilon: the epsilon to look at; not used when a deniability is given.
            noise: euclidean, mahalanobis or tem.
            deniability: find the epsilon at which a word becomes another one with this chance; 0 for none.
        """
        try:
            vocabulary = does.sanitizer.vocabulary
            wanted = epsilon_for(vocabulary, deniability, noise=noise) if deniability else epsilon
            found = calibrated(does.sanitizer.mechanism(noise, wanted), draws=_DRAWS)
        except StudioError as error:
            raise refusal(error) from error
        return {
            "epsilon": found.epsilon,
            "stays": found.stays,
            "stays_interval": list(found.stays_interval),
            "distinct": found.distinct,
            "draws": found.draws,
            "words": {word.word: word.stays for word in found.words},
        }

    api(sanitize, api_name="sanitize", **_LIMIT)
    api(calibrate, api_name="calibrate", **_LIMIT)


def _asked(
    mechanism: str, policy: str, epsilon: float, noise: str, own_words: str, consistent: bool
) -> Asked:
    if mechanism not in (MDP, SMDP):
        raise InputError(f"There is no mechanism called {mechanism[:40]!r}; there are {MDP} and {SMDP}.")
    names = [name.strip().lower() for name in policy.split(",") if name.strip()]
    return Asked(epsilon, ("all",) if mechanism == MDP else tuple(names), own_words, noise, consistent)


def _sanitized(does: Handlers, text: str, asked: Asked) -> dict[str, Any]:
    check_text(text)
    result = does.sanitizer.sanitize(text, asked)
    policy = does.sanitizer.policy(asked.policies, asked.own)
    mechanism = does.sanitizer.mechanism(asked.noise, asked.epsilon)
    return {
        "text": result.text,
        "words": result.words,
        "perturbed": result.perturbed,
        "kept_by_chance": result.kept_by_chance,
        "out_of_vocabulary": result.out_of_vocabulary,
        "draws": result.draws,
        "epsilon": result.epsilon,
        "facts": list(facts(result, mechanism, policy, consistent=asked.consistent)),
    }
