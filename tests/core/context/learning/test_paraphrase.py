"""Paraphrase: real translators where they are, a thesaurus everywhere."""

import random
import re
import stat
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from core.context.learning.paraphrase import Apertium, RoundTrip, Thesaurus, Translator, paraphraser_named
from core.context.learning.thesaurus import WORDS, replace_words
from core.errors import ModelUnavailable

TEXT = ["translate English to German: My bank code is 450.", "What did the doctor say to you?"]


def make_translator(folder: Path, kind: str) -> Path:
    """A tiny random sequence-to-sequence model with its tokenizer."""
    raw = Tokenizer(models.BPE(unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Metaspace()
    raw.train_from_iterator(
        TEXT,
        trainers.BpeTrainer(vocab_size=120, special_tokens=["<pad>", "</s>", "<unk>"], show_progress=False),
    )
    raw.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    size = {
        "vocab_size": len(tokenizer),
        "d_model": 16,
        "pad_token_id": 0,
        "eos_token_id": 1,
        "decoder_start_token_id": 0,
    }
    if kind == "t5":
        model = T5ForConditionalGeneration(T5Config(d_kv=4, d_ff=16, num_layers=1, num_heads=2, **size))
    else:
        layers = {
            "encoder_layers": 1,
            "decoder_layers": 1,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
        }
        model = MarianMTModel(
            MarianConfig(
                encoder_ffn_dim=16,
                decoder_ffn_dim=16,
                forced_eos_token_id=1,
                bad_words_ids=None,
                **layers,
                **size,
            )
        )
    model.save_pretrained(folder)
    return folder


def test_a_t5_round_trip_by_folder_goes_through_each_language(tmp_path, monkeypatch):
    trip = RoundTrip.t5(str(make_translator(tmp_path, "t5")))
    asked = []
    original = Translator.translate
    monkeypatch.setattr(
        Translator, "translate", lambda self, texts: asked.append(self.prefix) or original(self, texts)
    )
    found = trip.paraphrase(["My bank code is 450.", "What did the doctor say?"])
    assert len(found) == 2
    assert all(isinstance(text, str) and text for made in found for text in made)
    assert asked[:2] == ["translate English to German: ", "translate German to English: "]
    assert len(asked) == 6


def test_a_marian_round_trip_by_folder_runs(tmp_path):
    there, back = (make_translator(tmp_path / name, "marian") for name in ("there", "back"))
    assert len(RoundTrip.marian(str(there), str(back)).paraphrase(["My bank code is 450."])) == 1


def test_a_translator_that_is_not_there_or_is_a_pickle_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="t5-small"):
        RoundTrip.t5().paraphrase(["a"])
    (tmp_path / "config.json").write_text("{}")
    torch.save({}, tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="safetensors"):
        Translator(str(tmp_path)).translate(["a"])


@pytest.mark.skipif(not Apertium.installed(), reason="Apertium is not installed here")
def test_apertium_says_it_in_other_words_and_keeps_numbers():
    sentences = ["My bank security code is 450.", "What did the doctor tell you?", "no end"]
    found = Apertium(Apertium.installed()).paraphrase(sentences)
    assert len(found) == 3
    assert found[0]
    assert all("450" in text and text != sentences[0] for text in found[0])


def stand_in(folder: Path, body: str) -> None:
    """A program called apertium, first in the path."""
    program = folder / "apertium"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)


def test_apertium_is_called_with_one_paragraph_a_sentence(tmp_path, monkeypatch):
    stand_in(tmp_path, 'if [ "$1" = "-l" ]; then echo "eng-spa\nspa-eng"; else sed "s/code/key/"; fi')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert Apertium.installed() == (("eng-spa", "spa-eng"),)
    found = Apertium(Apertium.installed()).paraphrase(["My code is\n450", "My code", "tea"])
    assert found == [("My key is 450",), ("My key",), ()]
    assert paraphraser_named("auto").name == "round trip by Apertium"
    assert paraphraser_named("thesaurus").name == "thesaurus"
    assert paraphraser_named("none") is None


@pytest.mark.parametrize("body", ["exit 1", "echo one line"])
def test_an_apertium_that_fails_is_a_sentence(tmp_path, monkeypatch, body):
    stand_in(tmp_path, body)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(ModelUnavailable, match="Apertium"):
        Apertium((("eng-spa", "spa-eng"),)).paraphrase(["a", "b"])


def test_without_apertium_the_thesaurus_is_there(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    found = paraphraser_named("auto")
    assert found.name == "thesaurus"
    assert paraphraser_named("some/model").name == "round trip by some/model"


def test_the_thesaurus_replaces_words_by_their_like_and_keeps_who_speaks():
    sentences = ["My boss told the police that the code is 4417.", "Tea."] * 3
    found = Thesaurus(times=6).paraphrase(sentences)
    assert found[0] == found[2]
    assert found[1] == ()
    for text in found[0]:
        assert text != sentences[0]
        assert text.startswith("My ")
        assert text.endswith(" 4417.")
        for old, new in zip(sentences[0].split(), text.split(), strict=False):
            if old != new:
                assert any(new.strip(".").lower() in word for word in WORDS.get(old.lower(), (new,)))
                break


def test_word_vectors_add_near_words_but_never_names(settings):
    from core.sanitize.vectors import load_vectors

    vectors = load_vectors("embedded", settings)
    made = {replace_words("the sailor saw Bergen", random.Random(i), vectors) for i in range(20)}
    assert len(made) > 1
    assert all(re.search(r"\bBergen$", text) for text in made)


def test_words_stand_for_one_another_both_ways():
    assert all(word in WORDS[other] for word, others in WORDS.items() for other in others)
