"""Ensembles on disk: PEFT reads them, and nothing unfit is loaded."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from safetensors.torch import load_file, save_file

from core.errors import InputError, ModelUnavailable
from core.lm.adapters import load_ensemble, save_ensemble
from core.lm.ensemble import Ensemble
from core.lm.manifest import read_manifest
from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape
from tests.core.lm.tiny import random_stack, tiny_model

PROMPT = [5, 17, 3, 88, 41, 2, 2, 60]


def some_stack(public: PublicModel, targets: tuple[str, ...] = ()) -> AdapterStack:
    return random_stack(public, 3, LoraShape(layers=2, rank=4, alpha=8.0, targets=targets))


def partial_targets(public: PublicModel) -> tuple[str, ...]:
    return ("self_attn.v_proj", "mlp.down_proj") if "llama" in public.name else ("attn.c_attn", "mlp.c_proj")


@torch.inference_mode()
def peft_logits(public: PublicModel, folder: Path) -> torch.Tensor:
    model = PeftModel.from_pretrained(tiny_model(public.name.removeprefix("tiny-")), folder)
    return model(torch.tensor([PROMPT])).logits[0, -1]


@pytest.mark.parametrize("partial", [False, True])
def test_peft_loads_every_adapter_with_equal_logits(
    public: PublicModel, tmp_path: Path, partial: bool
) -> None:
    stack = some_stack(public, partial_targets(public) if partial else ())
    save_ensemble(tmp_path / "e", stack, public)
    logits = Ensemble(public, stack, "float32").decoder().start(PROMPT)
    for row, name in enumerate(stack.names):
        peft = peft_logits(public, tmp_path / "e" / name)
        torch.testing.assert_close(peft, logits[row + 1], atol=1e-4, rtol=0)
        assert (peft - logits[0]).abs().max() > 0.01


def test_what_was_saved_is_loaded_bit_for_bit_in_float32(public: PublicModel, tmp_path: Path) -> None:
    stack = some_stack(public)
    save_ensemble(
        tmp_path / "e", stack, public, synthetic=True, budget={"epsilon": 2.0}, partition={"parts": 3}
    )
    loaded, manifest = load_ensemble(tmp_path / "e", public)
    assert loaded.names == stack.names
    assert (loaded.shape.rank, loaded.shape.layers, loaded.shape.alpha) == (4, 2, 8.0)
    for place, a, b in stack.tensors():
        assert torch.equal(loaded.places[place].a, a)
        assert torch.equal(loaded.places[place].b, b)
    assert manifest.synthetic
    assert manifest.budget == {"epsilon": 2.0}
    assert manifest.partition == {"parts": 3}
    assert manifest.base_digest == public.digest
    assert manifest == read_manifest(tmp_path / "e")


def test_float16_halves_the_files_and_keeps_the_answers_close(public: PublicModel, tmp_path: Path) -> None:
    stack = some_stack(public)
    save_ensemble(tmp_path / "full", stack, public)
    save_ensemble(tmp_path / "half", stack, public, dtype=torch.float16)
    sizes = [sum(f.stat().st_size for f in (tmp_path / n).rglob("*.safetensors")) for n in ("full", "half")]
    assert sizes[1] < 0.75 * sizes[0]
    loaded, _ = load_ensemble(tmp_path / "half", public)
    assert all(a.dtype == torch.float32 for _, a, _ in loaded.tensors())
    got, wanted = (Ensemble(public, s).decoder().start(PROMPT) for s in (loaded, stack))
    torch.testing.assert_close(got, wanted, atol=0.02, rtol=0)


def test_saving_again_replaces_the_whole_and_leaves_no_debris(public: PublicModel, tmp_path: Path) -> None:
    stack = some_stack(public)
    save_ensemble(tmp_path / "e", stack, public)
    save_ensemble(tmp_path / "e", stack.select(["part-2"]), public)
    assert sorted(p.name for p in (tmp_path / "e").iterdir()) == ["manifest.json", "part-2"]
    assert [p.name for p in tmp_path.iterdir()] == ["e"]


def test_a_save_that_fails_leaves_the_old_ensemble(
    public: PublicModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_ensemble(tmp_path / "e", some_stack(public), public)
    before = read_manifest(tmp_path / "e")

    def full_disk(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("core.lm.adapters.save_file", full_disk)
    with pytest.raises(OSError, match="No space"):
        save_ensemble(tmp_path / "e", some_stack(public), public)
    assert read_manifest(tmp_path / "e") == before
    assert [p.name for p in tmp_path.iterdir()] == ["e"]


def test_another_public_model_is_refused(public: PublicModel, tmp_path: Path) -> None:
    save_ensemble(tmp_path / "e", some_stack(public), public)
    other = replace(public, folder=tmp_path)  # no weights there: another digest
    with pytest.raises(ModelUnavailable, match="other weights"):
        load_ensemble(tmp_path / "e", other)


def test_changed_or_missing_weights_are_refused(public: PublicModel, tmp_path: Path) -> None:
    save_ensemble(tmp_path / "e", some_stack(public), public)
    weights = tmp_path / "e" / "part-1" / "adapter_model.safetensors"
    save_file({key: value + 1 for key, value in load_file(weights).items()}, weights)
    with pytest.raises(ModelUnavailable, match="'part-1' are not those"):
        load_ensemble(tmp_path / "e", public)
    weights.unlink()
    with pytest.raises(ModelUnavailable, match="'part-1' are missing"):
        load_ensemble(tmp_path / "e", public)


def test_adapters_of_unequal_rank_are_refused(public: PublicModel, tmp_path: Path) -> None:
    save_ensemble(tmp_path / "e", some_stack(public), public)
    config = tmp_path / "e" / "part-1" / "adapter_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "r": 2}))
    with pytest.raises(ModelUnavailable, match="'part-1' differs"):
        load_ensemble(tmp_path / "e", public)


def test_folders_without_a_sound_manifest_are_refused(public: PublicModel, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="no ensemble"):
        load_ensemble(tmp_path, public)
    for text in ("{", "[]", '{"format": 1}', '{"format": 9}'):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(ModelUnavailable):
            load_ensemble(tmp_path, public)


def test_names_that_are_no_folder_names_are_refused(public: PublicModel, tmp_path: Path) -> None:
    stack = replace(some_stack(public), names=("..", "b", "c"))
    with pytest.raises(InputError, match="cannot be named"):
        save_ensemble(tmp_path / "e", stack, public)
    save_ensemble(tmp_path / "e", some_stack(public), public)
    manifest = tmp_path / "e" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("part-1", "../part-1"))
    with pytest.raises(ModelUnavailable, match="no name"):
        load_ensemble(tmp_path / "e", public)


def test_a_lower_rank_is_the_nearest_one_and_each_row_is_its_own(public: PublicModel) -> None:
    stack = some_stack(public)
    low = stack.lower_rank(2)
    assert low.shape.rank == 2
    assert low.shape.scale == stack.shape.scale
    for place, a, b in stack.tensors():
        product, nearest = a @ b, low.places[place].a @ low.places[place].b
        values = torch.linalg.svdvals(product)
        lost = torch.linalg.matrix_norm(product - nearest)
        torch.testing.assert_close(lost, values[:, 2:].norm(dim=1), atol=1e-5, rtol=1e-4)  # Eckart-Young
    alone = stack.select(["part-2"]).lower_rank(2)
    for place, a, b in alone.tensors():
        row = low.select(["part-2"]).places[place]
        torch.testing.assert_close(row.a @ row.b, a @ b, atol=1e-5, rtol=0)
    assert stack.lower_rank(4) is stack
    for rank in (0, 5):
        with pytest.raises(InputError, match="between 1 and 4"):
            stack.lower_rank(rank)


def test_adapters_of_two_ranks_load_as_one_stack_that_says_the_same(
    public: PublicModel, tmp_path: Path
) -> None:
    stack = some_stack(public)
    save_ensemble(tmp_path / "e", stack, public, ranks={stack.names[0]: 1, stack.names[2]: 2})
    loaded, _ = load_ensemble(tmp_path / "e", public)
    assert loaded.shape == replace(stack.shape, targets=loaded.shape.targets)
    logits = Ensemble(public, loaded, "float32").decoder().start(PROMPT)
    for row, name in enumerate(stack.names):
        peft = peft_logits(public, tmp_path / "e" / name)
        torch.testing.assert_close(peft, logits[row + 1], atol=1e-4, rtol=0)
    place = next(iter(stack.places))
    assert torch.equal(loaded.places[place].a[1], stack.places[place].a[1])
    assert (loaded.places[place].a[0, :, 1:] == 0).all()
