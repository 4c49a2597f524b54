"""Models trained by CADP on disk: safetensors and JSON, the card and the privacy account beside the weights.

An adapter is kept as an ensemble of one row in PEFT's layout, and its manifest says that it is of the kind
"cadp". The LSTM is kept as cadp.json, lstm.safetensors and tokenizer.json. The losses of the training are not
kept: no noise covers them.
"""

import json
import tempfile
from collections.abc import Generator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from core.context.cadp.card import CadpCard
from core.context.cadp.lstm import Lstm
from core.context.cadp.lstm_learner import LstmLM
from core.context.cadp.model import TrainedLM
from core.context.cadp.small_vocabulary import SmallVocabulary
from core.errors import InputError, ModelUnavailable
from core.lm.adapters import load_ensemble, save_ensemble
from core.lm.ensemble import Ensemble, EnsembleDecoder
from core.lm.manifest import MANIFEST, read_manifest
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack
from core.predict.decoding import Decoding
from core.predict.generate import Released, stream_unprotected
from core.settings import Settings

KIND = "cadp"
_FORMAT = 1
_ABOUT, _WEIGHTS, _TOKENIZER = "cadp.json", "lstm.safetensors", "tokenizer.json"
_NAMES = ("embedding", "recurrent", "head")


def save_cadp(folder: Path, trained: TrainedLM, public: PublicModel) -> None:
    """Write all or nothing; a model that was there before is replaced."""
    about = {
        "kind": KIND,
        "mechanism": trained.recipe.mechanism,
        "method": trained.card.title,
        "recipe": asdict(trained.recipe),
        "card": trained.card.values(),
        "account": trained.account.state(),
    }
    if isinstance(trained.model, AdapterStack):
        whole = {"kind": KIND, "corpus": trained.corpus}  # there are no parts
        save_ensemble(
            folder, trained.model, public, synthetic=trained.synthetic, partition=whole, training=about
        )
    else:
        _save_lstm(folder, trained.model, about | {"corpus": trained.corpus, "synthetic": trained.synthetic})


def read_card(folder: Path) -> CadpCard:
    """The card of a saved model, without its weights."""
    try:
        return CadpCard.of(_about(folder)["card"])
    except (KeyError, TypeError) as error:
        raise ModelUnavailable(f"The card of the model in {folder} cannot be read.") from error


def load_lstm(folder: Path) -> LstmLM:
    """A saved LSTM with its vocabulary."""
    about = _about(folder)
    try:
        tensors = load_file(folder / _WEIGHTS)
        vocabulary = SmallVocabulary.read(
            (folder / _TOKENIZER).read_text(encoding="utf-8"), str(about["separator"])
        )
        lstm = Lstm(*(tensors[name] for name in _NAMES))
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelUnavailable(f"The LSTM in {folder} is missing or damaged.") from error
    if len(lstm.embedding) != len(vocabulary):
        raise ModelUnavailable(f"The LSTM in {folder} does not fit its vocabulary.")
    return LstmLM(lstm, vocabulary)


class ServedCadp:
    """A saved adapter in memory: rows 0 and 1 of its decoder are the public model and the trained one."""

    def __init__(self, folder: Path, public: PublicModel) -> None:
        stack, self.manifest = load_ensemble(folder, public)
        if self.manifest.training.get("kind") != KIND:
            raise InputError(f"{folder.name} is an ensemble of parts, not a model trained by CADP.")
        self.public = public
        self.card = read_card(folder)
        self.corpus = str(self.manifest.partition.get("corpus") or folder.name)
        self.ensemble = Ensemble(public, stack)

    def decoder(self) -> EnsembleDecoder:
        """A fresh request."""
        return self.ensemble.decoder()

    def stream(
        self, prompt: str, decoding: Decoding, *, length: int, limits: Settings
    ) -> Generator[Released, None, None]:
        """Continue the prompt; answers cost nothing beyond what the training spent."""
        return stream_unprotected(self.public, self.decoder(), prompt, decoding, length=length, limits=limits)


def _save_lstm(folder: Path, model: LstmLM, about: dict[str, Any]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    separator = model.vocabulary.tokenizer.id_to_token(model.vocabulary.separator)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
        staging = Path(scratch) / "new"
        staging.mkdir()
        tensors = zip(_NAMES, model.lstm.tensors, strict=True)
        save_file({name: tensor.contiguous() for name, tensor in tensors}, staging / _WEIGHTS)
        (staging / _TOKENIZER).write_text(model.vocabulary.tokenizer.to_str(), encoding="utf-8")
        values = {"format": _FORMAT, "separator": separator, **about}
        (staging / _ABOUT).write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        staging.rename(folder)


def _about(folder: Path) -> dict[str, Any]:
    """What is known of a saved model, from the manifest of an adapter or beside an LSTM."""
    if (folder / MANIFEST).is_file():
        about = dict(read_manifest(folder).training)
    else:
        try:
            about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ModelUnavailable(f"There is no model trained by CADP in {folder}.") from error
    if about.get("kind") != KIND or about.get("format", _FORMAT) != _FORMAT:
        raise ModelUnavailable(f"There is no model trained by CADP in {folder}.")
    return about
