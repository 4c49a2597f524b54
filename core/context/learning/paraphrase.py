"""Paraphrase, the paper's semantic invariant mapping phi: by round-trip translation or by a thesaurus.

`paraphraser_named` gives a translation model by its name, Apertium's programs where they are installed, or
the thesaurus, which is the same everywhere. All of them give each sentence back once or more in other
words; what came back empty or unchanged is left out.
"""

import random
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from core.context.learning.thesaurus import replace_words
from core.errors import ModelUnavailable
from core.lm.hub import resolve

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

_SECONDS = 120


class Paraphraser(Protocol):
    """Says sentences in other words."""

    @property
    def name(self) -> str:
        """What it is, in a few words."""

    def paraphrase(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        """The paraphrases of each sentence, none where there is no other way to say it."""


@dataclass(frozen=True)
class Translator:
    """A sequence-to-sequence model: Marian or T5, from a folder or by name on the hub.

    T5 is told what to do by a prefix such as `translate English to German: `.
    """

    model: str
    prefix: str = ""
    batch: int = 16

    def translate(self, sentences: Sequence[str]) -> list[str]:
        """Each sentence in the other language."""
        import torch

        tokenizer, model = _load(self.model)
        found: list[str] = []
        for start in range(0, len(sentences), self.batch):
            texts = [self.prefix + sentence for sentence in sentences[start : start + self.batch]]
            read = tokenizer(texts, return_tensors="pt", padding=True, truncation=True, max_length=256)
            with torch.inference_mode():
                made = model.generate(
                    input_ids=read["input_ids"], attention_mask=read["attention_mask"], max_new_tokens=128
                )
            found += tokenizer.batch_decode(made, skip_special_tokens=True)
        return found


@lru_cache(maxsize=2)
def _load(name: str) -> tuple[Any, Any]:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    folder = resolve(name, what="translation model")
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(f"{folder} holds no safetensors weights; other formats are not loaded.")
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = AutoModelForSeq2SeqLM.from_pretrained(folder, use_safetensors=True, local_files_only=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = str(error).strip().splitlines()[0][:200]
        raise ModelUnavailable(f"{name!r} does not load as a translation model: {reason}") from error
    return tokenizer, model.eval()


# T5 was trained on these; the way back is asked for in the same words.
T5_LANGUAGES = ("German", "French", "Romanian")


@dataclass(frozen=True)
class RoundTrip:
    """There and back through one or more languages, as the paper does."""

    trips: tuple[tuple[Translator, Translator], ...]

    @staticmethod
    def t5(model: str = "t5-small", languages: Sequence[str] = T5_LANGUAGES) -> "RoundTrip":
        """Through each language with one T5 model."""
        there = (f"translate English to {language}: " for language in languages)
        back = (f"translate {language} to English: " for language in languages)
        return RoundTrip(
            tuple((Translator(model, a), Translator(model, b)) for a, b in zip(there, back, strict=True))
        )

    @staticmethod
    def marian(there: str, back: str) -> "RoundTrip":
        """Through one language with a Marian model for each direction."""
        return RoundTrip(((Translator(there), Translator(back)),))

    @property
    def name(self) -> str:
        """The model's name."""
        return f"round trip by {self.trips[0][0].model}"

    def paraphrase(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        """One paraphrase through each language."""
        tours = [back.translate(there.translate(sentences)) for there, back in self.trips]
        return [_others(sentence, tour) for sentence, *tour in zip(sentences, *tours, strict=True)]


@dataclass(frozen=True)
class Apertium:
    """There and back with Apertium's rule-based translators, where they are installed."""

    pairs: tuple[tuple[str, str], ...] = (("eng-spa", "spa-eng"), ("eng-cat", "cat-eng"))
    name: str = field(default="round trip by Apertium", init=False)

    @staticmethod
    def installed() -> tuple[tuple[str, str], ...]:
        """The pairs that can be used here."""
        if shutil.which("apertium") is None:
            return ()
        listed = subprocess.run(
            ["apertium", "-l"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
        modes = set(listed.stdout.split())
        return tuple(pair for pair in Apertium().pairs if set(pair) <= modes)

    def paraphrase(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        """One paraphrase through each language."""
        tours = [self._translate(back, self._translate(there, sentences)) for there, back in self.pairs]
        return [_others(sentence, tour) for sentence, *tour in zip(sentences, *tours, strict=True)]

    def _translate(self, mode: str, sentences: Sequence[str]) -> list[str]:
        # Each sentence is a paragraph of its own, so that none runs into the next.
        lines = "\n\n".join(" ".join(sentence.split()) for sentence in sentences)
        try:
            run = subprocess.run(
                ["apertium", "-u", "-f", "txt", mode],
                input=lines,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise ModelUnavailable(f"Apertium cannot translate {mode} here: {error}.") from error
        found = [line.strip() for line in run.stdout.strip("\n").split("\n\n")]
        if len(found) != len(sentences):
            raise ModelUnavailable(f"Apertium gave {len(found)} lines for {len(sentences)}.")
        return found


@dataclass(frozen=True)
class Thesaurus:
    """Words for words: from the project's own list, and from the nearest word vectors if they are given."""

    vectors: "KeyedVectors | None" = None
    times: int = 2
    seed: int = 0
    name: str = field(default="thesaurus", init=False)

    def paraphrase(self, sentences: Sequence[str]) -> list[tuple[str, ...]]:
        """Up to `times` paraphrases of each sentence."""
        found = []
        for sentence in sentences:
            draw = random.Random(f"{self.seed}/{sentence}")
            made = [replace_words(sentence, draw, self.vectors) for _ in range(self.times)]
            found.append(_others(sentence, made))
        return found


def paraphraser_named(name: str) -> Paraphraser | None:
    """`none`; `thesaurus`; `auto`, Apertium where it is installed; or a T5 model, a folder or a name."""
    if name == "none":
        return None
    if name not in ("auto", "thesaurus"):
        return RoundTrip.t5(name)
    pairs = Apertium.installed() if name == "auto" else ()
    return Apertium(pairs) if pairs else Thesaurus()


def _others(sentence: str, made: Sequence[str]) -> tuple[str, ...]:
    """Those that are not empty and not the sentence itself, each once."""
    said = {sentence.strip().casefold(), ""}
    others = []
    for text in (" ".join(each.split()) for each in made):
        if text.casefold() not in said:
            said.add(text.casefold())
            others.append(text)
    return tuple(others)
