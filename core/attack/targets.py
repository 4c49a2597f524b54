"""What can be attacked: models that were trained, and the protocols that stand in front of them.

A `Subject` is the material in memory: the public model, the adapters of the parts, and the adapter that was
trained on everything where there is one. A `Target` is one way of answering from it.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from core.errors import InputError, ModelUnavailable
from core.lm.manifest import MANIFEST, Manifest, read_manifest
from core.predict import PROTOCOLS
from core.predict.terms import planned_terms
from core.store.budget import MAX_QUERIES, Terms

PRIVATE_TRAININGS = ("mdp", "smdp", "cadp", "dp-sgd")  # protected as they were trained
WHOLE = "whole"  # the adapter of that name in an ensemble, and the target that it is
PUBLIC = "public"
ALONE = "model"  # a folder with one adapter: trained on sanitised text, by CADP or by DP-SGD
UNPROTECTED = (WHOLE, "ensemble")
TITLES = {
    WHOLE: "no protection",
    "ensemble": "plain ensemble",
    PUBLIC: "public model",
    "strict": "Strict",
    "submix": "SubMix",
    "pmixed": "PMixED",
    "gnmax": "GNMax",
    "subsample-aggregate": "subsample-and-aggregate",
}


class TargetGone(ModelUnavailable):
    """The target was deleted or trained again while it was attacked."""


@dataclass(frozen=True)
class Target:
    """One way of answering. `kind` is `whole`, `public`, `model`, or the name of a protocol over parts."""

    kind: str
    title: str
    terms: Terms | None = None

    @property
    def protected(self) -> bool:
        """Whether a budget stands in front of it."""
        return self.terms is not None and PROTOCOLS[self.kind].protected

    @property
    def words(self) -> str:
        """The target in a sentence."""
        return (
            f"{self.title} at epsilon {self.terms.epsilon:g}" if self.protected and self.terms else self.title
        )


@dataclass(frozen=True, eq=False)
class Subject:
    """Trained adapters in memory with what their manifest says; `folder` is None for what was never saved."""

    name: str
    public: Any  # PublicModel
    stack: Any  # AdapterStack with all rows
    manifest: Manifest
    folder: Path | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The adapters of the parts (or halves), without the one that saw everything."""
        return tuple(name for name in self.stack.names if name != WHOLE)

    def rows(self, target: Target) -> Any:
        """The adapters that answer for a target, behind the public model."""
        if target.kind == PUBLIC:
            return self.stack.select([])
        if target.kind in (WHOLE, ALONE):
            return self.stack.select([WHOLE if target.kind == WHOLE else self.stack.names[0]])
        return self.stack.select(self.parts)

    def check(self) -> None:
        """Raise `TargetGone` if what is on disk is no longer what is in memory."""
        if self.folder is None:
            return
        try:
            same = read_manifest(self.folder).created == self.manifest.created
        except ModelUnavailable:
            same = False
        if not same:
            raise TargetGone(
                f"{self.name} was deleted or trained again while it was attacked; "
                "what was found before that is kept."
            )


def open_subject(folder: Path, public: Any, name: str = "") -> Subject:
    """Load an ensemble, or a folder with one adapter."""
    from core.lm.adapters import load_ensemble

    if not (folder / MANIFEST).is_file():
        raise TargetGone(f"There is nothing to attack in {folder.name}: it has no {MANIFEST}.")
    stack, manifest = load_ensemble(folder, public)
    return Subject(
        name or str(manifest.partition.get("corpus") or folder.name), public, stack, manifest, folder
    )


def targets_of(manifest: Manifest, name: str = "", *, experiment: bool = False) -> tuple[Target, ...]:
    """Everything that can be attacked in an ensemble, from its manifest alone; the unprotected first.

    What protects nothing is offered for synthetic corpora only; `experiment` marks adapters that were
    trained for the attack and that nobody is served from.
    """
    if len(manifest.adapters) == 1:
        method = manifest.training.get("method") or manifest.training.get("mechanism")
        title = f"{name} ({method})" if method and name else str(method or name or "the model")
        return Target(ALONE, title), target_of(manifest, PUBLIC)
    kinds = [WHOLE] if WHOLE in manifest.adapters else []
    kinds.append("ensemble")
    if not (manifest.synthetic or experiment):
        kinds = []
    halves = bool(manifest.partition.get("halves"))
    kinds += ["strict", *(["submix"] if halves else []), "pmixed", PUBLIC]
    return tuple(target_of(manifest, kind, experiment=experiment) for kind in kinds)


def target_of(manifest: Manifest, kind: str, *, experiment: bool = False, **terms: Any) -> Target:
    """One target by kind; `terms` (epsilon, queries, alpha) replace those of the manifest."""
    if kind == WHOLE and WHOLE not in manifest.adapters:
        raise InputError("No adapter was trained on the whole corpus here, so there is none to attack.")
    if kind == ALONE:
        return targets_of(manifest)[0]
    if kind not in TITLES:
        raise InputError(f"A target is one of {', '.join(TITLES)} (it is {kind!r}).")
    if kind in (WHOLE, PUBLIC):
        return Target(kind, TITLES[kind])
    if "k" not in manifest.partition:
        raise InputError(f"There are no parts here for {TITLES[kind]} to answer from.")
    wanted = planned_terms(manifest, **{**terms, "protocol": kind})
    if kind == "ensemble" and not (manifest.synthetic or experiment):
        raise InputError("A plain ensemble protects nothing; it is attacked on synthetic corpora only.")
    # An experiment's ensemble is read by the curator alone, so that it may answer without protection.
    wanted = replace(wanted, synthetic=manifest.synthetic or experiment)
    if not PROTOCOLS[kind].protected:
        wanted = replace(wanted, queries=MAX_QUERIES)  # there is no budget that could end
    return Target(kind, TITLES[kind], wanted)


def chosen(targets: Sequence[Target], kinds: Sequence[str]) -> tuple[Target, ...]:
    """The targets of these kinds, in the order asked for."""
    known = {target.kind: target for target in targets}
    missing = [kind for kind in kinds if kind not in known]
    if missing:
        raise InputError(f"There is no target {missing[0]!r} here. There are: {', '.join(known)}.")
    return tuple(known[kind] for kind in kinds)


def terms_in_words(terms: Terms) -> dict[str, str]:
    """The terms for a report."""
    return {
        name: f"{value:g}" if isinstance(value, float) else str(value)
        for name, value in asdict(terms).items()
    }
