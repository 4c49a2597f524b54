"""CADP training in the background: one at a time, whoever watches, and the models that came of it."""

import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from core.catalogue import Entry
from core.context.flags import Mechanism
from core.corpus.documents import Corpus
from core.errors import InputError, StudioError
from core.lm.manifest import read_manifest
from core.settings import Settings

if TYPE_CHECKING:
    from core.context.cadp_card import CadpCard, Recall
    from core.context.cadp_model import Recipe
    from core.context.cadp_plan import CadpProgress
    from core.context.detector import Detector
    from core.context.flags import Flagger
    from core.lm.public import PublicModel

State = Literal["loading", "reading", "training", "done", "stopped", "failed"]
GOING = ("loading", "reading", "training")
_POINTS = 120


@dataclass(frozen=True)
class CadpStatus:
    """A training as it is now. The losses are functions of text that no noise covers: for the curator."""

    name: str
    synthetic: bool
    state: State = "loading"
    share: float = 0.0
    seconds_left: float | None = None
    losses: tuple[tuple[float, float], ...] = ()
    epsilons: tuple[tuple[float, float], ...] = ()
    steps: int = 0
    sentence: str = ""
    card: "CadpCard | None" = None

    @property
    def going(self) -> bool:
        """Whether it is under way."""
        return self.state in GOING


@dataclass
class _Run:
    status: CadpStatus
    stop: threading.Event = field(default_factory=threading.Event)
    thread: threading.Thread | None = None


class CadpJobs:
    """One training at a time: two would share the cores and neither would end sooner."""

    def __init__(self, settings: Settings, public: "Callable[[], PublicModel]") -> None:
        self._settings, self._public = settings, public
        self._lock = threading.Lock()
        self._run: _Run | None = None

    def status(self) -> CadpStatus | None:
        """The training that runs, or the last one."""
        return self._run.status if self._run else None

    def start(
        self, corpus: Corpus, recipe: "Recipe", detector: "Callable[[], Detector]", *, name: str | None = None
    ) -> CadpStatus:
        """Train in a thread of its own. A model that protects nothing is made of synthetic text only."""
        mechanism = recipe.mechanism
        if mechanism == "none" and not corpus.synthetic:
            raise InputError("Training without privacy is for synthetic text: the model could recite it.")
        called = name or model_name(corpus.name, mechanism, recipe.settings.epsilon)
        cadp_folder(self._settings, called)
        with self._lock:
            if self._run is not None and self._run.status.going:
                raise InputError("A training is under way. Stop it first, or wait for its end.")
            run = self._run = _Run(CadpStatus(called, corpus.synthetic))
            run.thread = threading.Thread(
                target=self._train, args=(run, corpus, recipe, detector), name="cadp", daemon=True
            )
            run.thread.start()
        return run.status

    def cancel(self) -> None:
        """Stop at the next step."""
        if self._run is not None:
            self._run.stop.set()

    def close(self) -> None:
        """Stop, and wait for the end."""
        self.cancel()
        if self._run is not None and self._run.thread is not None:
            self._run.thread.join()

    def _train(self, run: _Run, corpus: Corpus, recipe: "Recipe", detector: "Callable[[], Detector]") -> None:
        from core.context.cadp_files import save_cadp
        from core.context.cadp_model import train_cadp
        from core.curator.run import give_way, sentence_of
        from core.lm.training import TrainingCancelled

        name = run.status.name
        checkpoints = self._settings.data_dir / "cadp-training" / name  # private: deleted in every case
        try:
            public = self._public()
            give_way()
            flagger, recall = flags_for(recipe.mechanism, detector)
            trained = train_cadp(
                corpus,
                public,
                recipe,
                flagger,
                recall=recall,
                checkpoints=checkpoints,
                progress=lambda progress: _note(run, progress),
                cancelled=run.stop.is_set,
            )
            save_cadp(cadp_folder(self._settings, name), trained, public)
            run.status = replace(run.status, state="done", share=1.0, seconds_left=None, card=trained.card)
        except TrainingCancelled:
            run.status = replace(run.status, state="stopped", seconds_left=None)
        except Exception as error:  # the page must learn of whatever a training dies of
            said = str(error) if isinstance(error, StudioError) else sentence_of(error)
            run.status = replace(run.status, state="failed", seconds_left=None, sentence=said)
        finally:
            shutil.rmtree(checkpoints, ignore_errors=True)


def flags_for(mechanism: Mechanism, detector: "Callable[[], Detector]") -> "tuple[Flagger, Recall | None]":
    """The flags of a mechanism, and for the context detector its recall on held-out families."""
    from core.context.flags import flagger_for

    if mechanism != "cadp":
        return flagger_for(mechanism), None
    from core.context.cadp_card import Recall
    from core.context.evaluate import card_of

    loaded = detector()
    return flagger_for("cadp", loaded), Recall.of_card(card_of(loaded))


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


def _note(run: _Run, progress: "CadpProgress") -> None:
    state: State = "training" if progress.stage == "training" else "reading"
    losses, epsilons = run.status.losses, run.status.epsilons
    if progress.stage == "training":
        every = max(1, progress.steps // _POINTS)
        if progress.step % every == 0 or progress.step == progress.steps:
            step = float(progress.step)
            losses = (*losses, (step, progress.loss)) if progress.loss is not None else losses
            epsilons = (*epsilons, (step, progress.epsilon))
    run.status = replace(
        run.status,
        state=state,
        share=progress.share,
        seconds_left=progress.seconds_left,
        losses=losses,
        epsilons=epsilons,
        steps=progress.steps,
    )
