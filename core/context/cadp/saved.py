"""The models that were trained by CADP and its baselines here: their names and places."""

from pathlib import Path

from core.catalogue import Entry
from core.context.cadp.flags import Mechanism
from core.errors import InputError, StudioError
from core.lm.manifest import read_manifest
from core.settings import Settings


def model_name(corpus: str, mechanism: Mechanism, epsilon: float) -> str:
    """What a model is called where nobody says: the same training replaces the model before it."""
    terms = "" if mechanism == "none" else f" epsilon {epsilon:g}"
    kind = {"cadp": "CADP", "s-dpsgd": "S-DPSGD", "dp-sgd": "DP-SGD", "none": "no privacy"}[mechanism]
    return f"{corpus}, {kind}{terms}".replace("/", "-").lstrip(".")[:100]


def cadp_folder(settings: Settings, name: str) -> Path:
    """Where a model of this name is kept."""
    if not name or Path(name).name != name or name.startswith(".") or not name.isprintable():
        raise InputError(f"{name[:80]!r} is no name of a model.")
    return settings.data_dir / "cadp" / name


def list_cadp(settings: Settings) -> tuple[Entry, ...]:
    """The adapters that were trained by CADP and its baselines here; each is a target of attacks, too."""
    found = []
    for folder in sorted((settings.data_dir / "cadp").glob("*/")):
        try:
            manifest = read_manifest(folder)
        except StudioError:
            continue
        if manifest.training.get("kind") == "cadp":
            found.append(Entry(folder.name, folder, manifest))
    return tuple(found)
