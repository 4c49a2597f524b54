"""The manifest of an ensemble: what binds adapters to their public model, and the terms they serve on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from core.errors import ModelUnavailable

FORMAT = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What an ensemble is: its public model, the partition, how it was trained, what it may spend."""

    base_model: str
    base_digest: str
    synthetic: bool = False
    partition: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    adapters: Mapping[str, str] = field(default_factory=dict)  # name -> SHA-256 of its weights, in row order
    format: int = FORMAT


def read_manifest(folder: Path) -> Manifest:
    """The manifest alone, without weights."""
    try:
        values = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if values.get("format") != FORMAT:
            raise ModelUnavailable(
                f"The ensemble in {folder} has format {values.get('format')}, not {FORMAT}."
            )
        return Manifest(**values)
    except FileNotFoundError as error:
        raise ModelUnavailable(f"There is no ensemble in {folder}: it has no {MANIFEST}.") from error
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ModelUnavailable(f"The manifest of the ensemble in {folder} cannot be read.") from error
