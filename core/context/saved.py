"""Where detectors live: the shipped one beside the code, one's own in the data folder."""

import re
import shutil
import tempfile
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from core.context.detector import SHIPPED, Detector
from core.errors import InputError, ModelUnavailable
from core.settings import EMBEDDED, Settings

if TYPE_CHECKING:
    from core.context.second import SecondLook

ASSETS = Path(__file__).resolve().parents[2] / "assets" / "detector"
HEAD = ASSETS / "head"
SECOND = ASSETS / "second"
CARD = ASSETS / "card.json"
_NAME = re.compile(r"[\w][\w .-]{0,63}")


def load_detector(name: str, settings: Settings) -> Detector:
    """The shipped detector, one that was saved under a name, or a fine-tuned classifier in a folder."""
    if name == SHIPPED:
        return _shipped(settings.cache_dir)
    folder = Path(name) if (Path(name) / "config.json").is_file() else saved_folder(name, settings)
    if (folder / "config.json").is_file():
        from core.context.classifier import load_classifier

        return load_classifier(folder)
    if not folder.is_dir():
        known = ", ".join((SHIPPED, *saved_names(settings)))
        raise ModelUnavailable(f"There is no detector called {name[:80]!r}; there are {known}.")
    return _with_head(name, folder, settings)


def save_detector(detector: Detector, name: str, settings: Settings) -> Path:
    """Save a detector under a name, in place of an older one of that name."""
    from core.context.scorer import HeadScorer

    folder = saved_folder(name, settings)
    scorer = detector.scorer
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".save-") as temporary:
        staging = Path(temporary) / "detector"
        if isinstance(scorer, HeadScorer):
            scorer.head.at(detector.threshold).save(staging)
        else:
            from core.context.classifier import save_classifier

            save_classifier(detector, staging)
        if folder.exists():
            folder.rename(Path(temporary) / "old")
        staging.rename(folder)
    return folder


def delete_detector(name: str, settings: Settings) -> None:
    """Delete a saved detector; the shipped one stays."""
    shutil.rmtree(saved_folder(name, settings), ignore_errors=True)


def saved_names(settings: Settings) -> tuple[str, ...]:
    """The names of all saved detectors, in order."""
    parent = settings.data_dir / "detectors"
    return tuple(
        sorted(path.name for path in parent.glob("*") if path.is_dir() and not path.name.startswith("."))
    )


def saved_folder(name: str, settings: Settings) -> Path:
    """The folder for a name; a name that is none is refused."""
    if not _NAME.fullmatch(name) or name == SHIPPED:
        raise InputError(
            f"{name[:80]!r} cannot be a detector's name; use letters, digits, spaces, dots and dashes."
        )
    return settings.data_dir / "detectors" / name


@lru_cache(maxsize=1)
def _shipped(cache_dir: Path) -> Detector:
    # The head belongs to the embedded encoder, whatever encoder is set for other uses.
    return _with_head(SHIPPED, HEAD, Settings(_env_file=None, cache_dir=cache_dir))


def _with_head(name: str, folder: Path, settings: Settings) -> Detector:
    from core.context.encoder import load_encoder
    from core.context.head import Head
    from core.context.reader import Reader
    from core.context.scorer import HeadScorer

    head = Head.load(folder)
    encoder = load_encoder(head.about.encoder or EMBEDDED, settings)
    second = partial(shipped_second, settings.cache_dir) if head.both else None
    return Detector(name, HeadScorer(head, Reader(encoder, head), encoder, HEAD, second), head.threshold)


@lru_cache(maxsize=1)
def shipped_second(cache_dir: Path) -> "SecondLook":
    """The second look that ships; read when a sentence first needs it, and then kept."""
    from core.context.second import SecondLook
    from core.lm.public import load_public

    return SecondLook(SECOND, load_public(EMBEDDED, Settings(_env_file=None, cache_dir=cache_dir)))
