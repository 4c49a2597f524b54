"""The ensembles that are here: the shipped demonstration, and what was trained on this machine."""

import tempfile
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from core.errors import InputError, ModelUnavailable
from core.lm.manifest import MANIFEST, Manifest, read_manifest
from core.settings import Settings

DEMO = "demo"
LONGEST_NAME = 120  # bytes, so that a folder can have it on every disk
SHIPPED = Path(__file__).resolve().parents[1] / "assets" / "ensemble"


@dataclass(frozen=True)
class Entry:
    """One ensemble on disk. `name` is what people call it, `corpus` what the ledger calls its budget."""

    name: str
    folder: Path
    manifest: Manifest

    @property
    def corpus(self) -> str:
        """The name of the corpus, under which its budget is kept for good."""
        return str(self.manifest.partition.get("corpus") or self.folder.name)

    @property
    def synthetic(self) -> bool:
        """Whether nobody in the corpus exists."""
        return self.manifest.synthetic

    @property
    def shipped(self) -> bool:
        """Whether it came with the application."""
        return self.folder == SHIPPED

    def fits(self, settings: Settings) -> bool:
        """Whether it was trained on the public model that is used here; its digest is checked on loading."""
        return self.manifest.base_model == settings.model


def list_ensembles(settings: Settings) -> tuple[Entry, ...]:
    """The demonstration first, then by name; a folder that cannot be read is left out."""
    folders = [SHIPPED, *sorted((settings.data_dir / "ensembles").glob("*/"))]
    found = []
    for folder in folders:
        try:
            manifest = read_manifest(folder)
        except ModelUnavailable:
            continue
        name = str(manifest.partition.get("corpus")) if folder == SHIPPED else folder.name
        found.append(Entry(name, folder, manifest))
    return tuple(found)


def find_ensemble(settings: Settings, name: str, *, folders: bool = False) -> Entry:
    """The ensemble of that name, `demo` for the shipped one; with `folders` also one in a folder.

    Folders are for the shell: a visitor of the page names what is listed and nothing else on the disk.
    """
    if folders and (Path(name) / MANIFEST).is_file():
        return Entry(Path(name).name, Path(name), read_manifest(Path(name)))
    entries = list_ensembles(settings)
    for entry in entries:
        if entry.name == name or (name == DEMO and entry.shipped):
            return entry
    there = ", ".join(entry.name for entry in entries) or "none yet"
    raise InputError(f"There is no ensemble named {name!r} here. There are: {there}.")


def ensemble_folder(settings: Settings, name: str) -> Path:
    """Where an ensemble of this name is to be kept."""
    plain = name == name.strip() and name.isprintable() and Path(name).name == name
    if not name or not plain or name.startswith(".") or len(name.encode()) > LONGEST_NAME:
        raise InputError(
            f"{name[:40]!r} is no name of an ensemble: at most {LONGEST_NAME} plain characters, no slash, "
            "no dot in front."
        )
    return settings.data_dir / "ensembles" / name


def rename_ensemble(settings: Settings, name: str, new: str, *, budgets: Collection[str]) -> Entry:
    """Call an ensemble something else. Its corpus, and so its budget in the ledger, keep their name.

    `budgets` are the names in the ledger: one that is another corpus' would mislead whoever reads both.
    """
    entry, folder = _own(settings, name), ensemble_folder(settings, new)
    if folder == entry.folder:
        return entry
    others = [each for each in list_ensembles(settings) if each.folder != entry.folder]
    taken = {DEMO, *(each.name for each in others), *(each.corpus for each in others), *budgets}
    if folder.exists() or new in taken - {entry.corpus}:
        raise InputError(f"'{new}' is the name of another ensemble or of its budget; choose another.")
    try:
        entry.folder.rename(folder)
    except OSError as error:
        raise InputError(f"'{name}' cannot be renamed: {error.strerror or 'the disk failed'}.") from error
    return replace(entry, name=new, folder=folder)


def delete_ensemble(settings: Settings, name: str) -> Entry:
    """Delete an ensemble's adapters; returns what it was. Its budget stays in the ledger."""
    entry = _own(settings, name)
    try:
        # Out of sight in one step, then deleted: nobody meets half an ensemble.
        with tempfile.TemporaryDirectory(dir=entry.folder.parent, prefix=".deleted-") as scratch:
            entry.folder.rename(Path(scratch) / "old")
    except OSError as error:
        raise InputError(f"'{name}' cannot be deleted: {error.strerror or 'the disk failed'}.") from error
    return entry


def _own(settings: Settings, name: str) -> Entry:
    entry = next((each for each in list_ensembles(settings) if each.name == name), None)
    if entry is None:
        raise InputError(f"There is no ensemble named {name[:40]!r} here.")
    if entry.shipped:
        raise InputError(f"'{name}' came with the studio and stays as it is.")
    return entry
