"""The public model: one function for the embedded one, a folder, and a hub name."""

import shutil

import pytest
import torch

from core.errors import InputError, ModelUnavailable
from core.lm import public as public_module
from core.lm.decode import PublicDecoder, TextStream, encode_prompt
from core.lm.public import load_public
from core.predict.decoding import Decoding
from core.predict.generate import stream_public
from core.settings import EMBEDDED


@pytest.fixture(scope="module", params=["tiny_llama", "tiny_gpt2"])
def public(request):
    from core.settings import Settings

    return load_public(str(request.getfixturevalue(request.param)), Settings(_env_file=None))


@pytest.fixture(scope="module")
def embedded():
    from core.settings import Settings

    return load_public(EMBEDDED, Settings(_env_file=None))


def test_the_embedded_model_knows_english_and_is_float32(embedded):
    assert {parameter.dtype for parameter in embedded.model.parameters()} == {torch.float32}
    tokens = encode_prompt(embedded, "The capital of France is", max_chars=100, new_tokens=1)
    best = PublicDecoder(embedded).start(tokens)[0].argmax()
    assert embedded.tokenizer.decode(best).strip() == "Paris"


def test_digits_are_single_tokens_in_the_embedded_model(embedded):
    tokens = embedded.tokenizer("145572", add_special_tokens=False).input_ids
    assert len(tokens) == 6


def test_the_embedded_model_is_not_converted_twice(embedded, settings, monkeypatch):
    monkeypatch.setattr("core.lm.public._convert", lambda *_: pytest.fail("converted again"))
    assert load_public(EMBEDDED, settings).folder == embedded.folder


def test_a_hub_name_that_cannot_be_had_is_a_sentence_that_names_the_embedded_one(settings, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match=r"'gpt2'.*'embedded'"):
        load_public("gpt2", settings)


@pytest.mark.parametrize("name", ["../../etc", "a b", "x/y/z", "", "https://example.org/model", "\0"])
def test_what_is_no_model_name_is_refused(settings, name):
    with pytest.raises((InputError, ModelUnavailable)):
        load_public(name, settings)


def test_a_folder_of_pickles_is_refused(settings, tmp_path, tiny_llama):
    folder = tmp_path / "pickled"
    shutil.copytree(tiny_llama, folder)
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ModelUnavailable, match="safetensors"):
        load_public(str(folder), settings)


def test_a_folder_with_a_broken_config_is_a_sentence(settings, tmp_path, tiny_llama):
    folder = tmp_path / "broken"
    shutil.copytree(tiny_llama, folder)
    (folder / "config.json").write_text("{")
    with pytest.raises(ModelUnavailable, match="does not load"):
        load_public(str(folder), settings)


def test_the_digest_changes_with_the_weights(settings, tiny_llama, tiny_gpt2):
    first, second = (load_public(str(folder), settings) for folder in (tiny_llama, tiny_gpt2))
    assert first.digest != second.digest
    assert len(first.digest) == 64


def test_decoding_with_a_cache_gives_the_logits_of_a_whole_pass(public):
    tokens = encode_prompt(public, "The night nurse wrote", max_chars=100, new_tokens=1)
    decoder = PublicDecoder(public)
    stepped = [decoder.start(tokens[:1]), *(decoder.step(token) for token in tokens[1:])]
    whole = public.model(torch.tensor([tokens])).logits[0]
    assert torch.allclose(torch.cat(stepped), whole, atol=1e-5)


def test_two_requests_in_turns_do_not_mix(public):
    one, two = PublicDecoder(public), PublicDecoder(public)
    alone = PublicDecoder(public)
    one.start([5, 6, 7])
    two.start([9, 8])
    mixed = one.step(11)
    two.step(3)
    alone.start([5, 6, 7])
    assert torch.equal(mixed, alone.step(11))


def test_special_tokens_typed_as_text_stay_text(public):
    tokens = encode_prompt(public, "end<|endoftext|>", max_chars=100, new_tokens=1)
    assert not set(tokens) & set(public.tokenizer.all_special_ids)
    assert public.tokenizer.decode(tokens) == "end<|endoftext|>"


def test_a_lone_surrogate_is_refused_where_it_stands(public):
    with pytest.raises(InputError, match="position 3"):
        encode_prompt(public, "ab\ud800", max_chars=100, new_tokens=1)


@pytest.mark.parametrize("text", ["plain words here", "naïve café 🙂🙂 日本語", "a\n\n b \t c", "مرحبا"])
def test_streamed_text_is_the_text(public, text):
    stream = TextStream(public)
    tokens = (
        encode_prompt(public, text * 9, max_chars=1000, new_tokens=1)
        if len(text) < 12
        else (encode_prompt(public, text, max_chars=1000, new_tokens=1))
    )
    made = "".join(stream.push(token) for token in tokens) + stream.flush()
    assert made == (text * 9 if len(text) < 12 else text)
    assert "\ufffd" not in made


def test_a_closed_stream_stops_between_two_tokens(public, settings, monkeypatch):
    steps = []
    original = PublicDecoder.step
    monkeypatch.setattr(
        PublicDecoder, "step", lambda self, token: steps.append(token) or original(self, token)
    )
    stream = stream_public(public, "Tea", Decoding(), length=50, limits=settings)
    next(stream)
    stream.close()
    assert steps == []


def test_public_top_k_leaves_only_the_likeliest_tokens(public, settings):
    tokens = encode_prompt(public, "Tea and", max_chars=100, new_tokens=1)
    best = set(PublicDecoder(public).start(tokens)[0].topk(3).indices.tolist())
    drawn = set()
    for _ in range(40):
        drawn |= {
            p.token for p in stream_public(public, "Tea and", Decoding(top_k=3), length=1, limits=settings)
        }
    assert drawn <= best
    assert len(drawn) > 1


def test_a_conversion_that_cannot_be_written_is_a_sentence_and_leaves_nothing(tmp_path, monkeypatch):
    def full(folder, target):
        target.mkdir()
        (target / "half.safetensors").write_bytes(b"x")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(public_module, "_convert", full)
    with pytest.raises(ModelUnavailable, match=r"No space left.*0\.7 GB are needed"):
        public_module._converted(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == []
