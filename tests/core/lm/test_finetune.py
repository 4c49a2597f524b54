"""Fine-tuning learns, and no adapter knows of another's data."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest
import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from peft import PeftModel
from torch.nn import functional as F

from core.errors import InputError
from core.lm.adapters import save_ensemble
from core.lm.checkpoint import StateCache
from core.lm.ensemble import Ensemble
from core.lm.finetune import (
    AdapterData,
    Progress,
    TrainingCancelled,
    TrainingResult,
    TrainingSettings,
    finetune,
)
from core.lm.head_loss import head_losses
from core.lm.linear import FrozenLinear
from core.lm.public import PublicModel
from core.lm.sequences import batches, cut, hold_out
from core.lm.stack import LoraShape
from core.lm.training_group import TrainingGroup
from core.lm.transformer import read_transformer
from tests.core.lm.tiny import VOCABULARY, random_stack, tiny_model

SHAPE = LoraShape(layers=2, rank=4, alpha=8.0)
SETTINGS = TrainingSettings(
    shape=SHAPE, passes=2, batch=4, length=16, learning_rate=1e-2, validation=0.0, seed=5, rows_at_once=3
)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Products this small gain nothing by a second thread, and lose much where others use the processor."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def documents(seed: int, count: int = 12, length: int = 30) -> list[list[int]]:
    """A round of five tokens that belong to the seed, from a random place on: easy to learn."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(0, 5, (count,), generator=generator).tolist()
    return [[10 + (7 * seed + (start + i) % 5) % 80 for i in range(length)] for start in starts]


def parts(*seeds: int) -> list[AdapterData]:
    return [AdapterData(f"part-{i}", documents(seed)) for i, seed in enumerate(seeds)]


def same_row(first: TrainingResult, second: TrainingResult, name: str) -> bool:
    pairs = zip(first.stack.select([name]).tensors(), second.stack.select([name]).tensors(), strict=True)
    return all(torch.equal(a, c) and torch.equal(b, d) for (_, a, b), (_, c, d) in pairs)


def mean_loss(public: PublicModel, result: TrainingResult, text: list[int]) -> list[float]:
    return (-Ensemble(public, result.stack).log_likelihoods(text).mean(dim=1)).tolist()


def test_each_adapter_learns_its_own_text(public: PublicModel) -> None:
    result = finetune(public, parts(0, 1), replace(SETTINGS, passes=6))
    for row, seed in ((1, 0), (2, 1)):
        losses = mean_loss(public, result, documents(seed)[0])
        assert losses[row] < losses[0] - 1.0
        assert losses[row] == min(losses)
    for report in result.reports:
        assert report.training[-1] < report.training[0] - 0.5
        assert report.steps == 6 * -(-report.tokens // (16 * 4))


@pytest.mark.parametrize("rows_at_once", [1, 3])
def test_an_adapter_is_bit_identical_whatever_the_others_learn(
    public: PublicModel, rows_at_once: int
) -> None:
    settings = replace(SETTINGS, rows_at_once=rows_at_once, validation=0.25)
    first = finetune(public, parts(0, 1, 2), settings)
    other = AdapterData("part-1", documents(7, count=31), passes=4)
    emptied = AdapterData("part-2", [])
    second = finetune(public, [parts(0)[0], other, emptied], settings)
    assert same_row(first, second, "part-0")
    assert first.reports[0] == second.reports[0]
    assert not same_row(first, second, "part-1")


@torch.no_grad()
def peft_gradients(public: PublicModel, folder: Path, sequences: torch.Tensor) -> dict[str, torch.Tensor]:
    """What PEFT's own backward pass gives for the mean next-token loss of (n, T + 1) tokens."""
    model = PeftModel.from_pretrained(
        tiny_model(public.name.removeprefix("tiny-")), folder, is_trainable=True
    )
    with torch.enable_grad():
        logits = model.eval()(sequences[:, :-1]).logits
        F.cross_entropy(logits.flatten(0, 1), sequences[:, 1:].flatten()).backward()
    return {name: p.grad.t() for name, p in model.named_parameters() if p.grad is not None}


def test_the_stacked_gradient_is_the_one_of_peft(public: PublicModel, tmp_path: Path) -> None:
    stack = random_stack(public, 2, SHAPE)
    save_ensemble(tmp_path / "e", stack, public)
    settings = replace(SETTINGS, rows_at_once=2)
    group = TrainingGroup(0, parts(0, 1), 2, read_transformer(public.model), settings, 0, Accelerator())
    flat = torch.cat(
        [t.flatten(1) for p, _ in group.places for t in (stack.places[p].a, stack.places[p].b)], 1
    )
    flat.requires_grad_()
    states = [group._states(row.learn, None, "x", None) for row in group.rows]
    chosen = {0: [0, 1, 2, 3], 1: [4, 5, 6, 7]}
    x, targets, mask = group._gather([row.learn for row in group.rows], states, chosen)
    assert mask.all()
    losses = group._losses(flat, x, targets)
    (gradient,) = torch.autograd.grad(losses.mean(dim=(1, 2)).sum(), flat)
    ours = group.unflatten(gradient, stack.names)
    for row, name in enumerate(stack.names):
        learn = group.rows[row].learn
        tokens = torch.cat((learn.tokens[chosen[row]], learn.targets[chosen[row]][:, -1:]), dim=1)
        for key, wanted in peft_gradients(public, tmp_path / "e" / name, tokens).items():
            layer, target = re.findall(r"\.(\d+)\.(.+)\.lora_", key)[0]
            lora = ours.places[int(layer), target]
            got = (lora.a if "lora_A" in key else lora.b)[row]
            torch.testing.assert_close(got, wanted, atol=1e-5, rtol=1e-3)


def test_a_shared_seed_or_order_would_be_seen() -> None:
    assert batches(9, 4, 0, 1) != batches(9, 4, 0, 2)
    assert batches(9, 4, 0, 1) != batches(9, 4, 1, 1)
    assert sorted(chain(*batches(9, 4, 0, 1))) == list(range(9))


def test_training_is_deterministic_by_seed(public: PublicModel) -> None:
    first, second = finetune(public, parts(0, 1), SETTINGS), finetune(public, parts(0, 1), SETTINGS)
    assert same_row(first, second, "part-0")
    assert same_row(first, second, "part-1")
    assert not same_row(first, finetune(public, parts(0, 1), replace(SETTINGS, seed=6)), "part-0")


def test_bf16_learns_as_float32_does_and_keeps_float32_weights(public: PublicModel) -> None:
    whole = finetune(public, parts(1), SETTINGS, precision="no")
    AcceleratorState._reset_state(reset_partial_state=True)  # one precision a process, except in a test
    half = finetune(public, parts(1), SETTINGS, precision="bf16")
    AcceleratorState._reset_state(reset_partial_state=True)
    assert not same_row(whole, half, "part-0")  # the other path was taken
    assert all(a.dtype == b.dtype == torch.float32 for _, a, b in half.stack.tensors())
    assert half.reports[0].training[-1] == pytest.approx(whole.reports[0].training[-1], rel=0.05)


def test_an_adapter_without_data_stays_the_public_model(public: PublicModel) -> None:
    result = finetune(public, [*parts(0), AdapterData("empty", [])], SETTINGS)
    logits = Ensemble(public, result.stack, "float32").decoder().start([1, 2, 3])
    torch.testing.assert_close(logits[2], logits[0], atol=1e-5, rtol=0)
    assert result.reports[1].steps == 0


def test_a_row_may_have_passes_of_its_own(public: PublicModel) -> None:
    whole = AdapterData("whole", documents(0) + documents(1), passes=5, validation=0.0)
    result = finetune(public, [*parts(0), whole], SETTINGS)
    assert [len(report.training) for report in result.reports] == [2, 5]


def test_a_row_may_have_a_batch_of_its_own_and_changes_nothing_for_the_others(public: PublicModel) -> None:
    data = parts(1, 2)
    mixed = finetune(public, [data[0], replace(data[1], batch=2)], SETTINGS)
    alone = finetune(public, [data[1]], replace(SETTINGS, batch=2))
    assert same_row(mixed, finetune(public, data, SETTINGS), "part-0")
    assert same_row(mixed, alone, "part-1")
    assert mixed.reports[1].steps > mixed.reports[0].steps


def cancel_after(steps: int) -> Callable[[], bool]:
    calls = iter(range(10**6))
    return lambda: next(calls) >= steps


@pytest.mark.parametrize("steps", [8, 13, 20])
def test_a_cancelled_training_goes_on_to_the_same_weights(
    public: PublicModel, tmp_path: Path, steps: int
) -> None:
    settings = replace(SETTINGS, validation=0.2, passes=3, rows_at_once=2)
    data = [*parts(0, 1), AdapterData("whole", documents(0) + documents(1), passes=4)]
    wanted = finetune(public, data, settings)
    with pytest.raises(TrainingCancelled):
        finetune(public, data, settings, folder=tmp_path, cancelled=cancel_after(steps))
    resumed = finetune(public, data, settings, folder=tmp_path)
    assert resumed.reports == wanted.reports
    assert all(same_row(resumed, wanted, name) for name in wanted.stack.names)


def test_a_checkpoint_of_other_data_or_a_damaged_one_is_not_gone_on_from(
    public: PublicModel, tmp_path: Path
) -> None:
    finetune(public, parts(3), SETTINGS, folder=tmp_path)
    wanted = finetune(public, parts(0), SETTINGS)
    assert same_row(finetune(public, parts(0), SETTINGS, folder=tmp_path), wanted, "part-0")
    (tmp_path / "group-0.safetensors").write_bytes(b"not a checkpoint")
    assert same_row(finetune(public, parts(0), SETTINGS, folder=tmp_path), wanted, "part-0")
    assert [path.name for path in tmp_path.iterdir()] == ["group-0.safetensors"]


def test_large_caches_of_states_live_in_a_file_and_change_nothing(
    public: PublicModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = finetune(public, parts(0), SETTINGS)
    monkeypatch.setattr("core.lm.checkpoint._IN_MEMORY", 0)
    cache = StateCache((2, 3, 4), tmp_path, "probe")
    assert (tmp_path / "states-probe.float32").stat().st_size == 96
    cache.close()
    assert same_row(finetune(public, parts(0), SETTINGS, folder=tmp_path), wanted, "part-0")
    assert not list(tmp_path.glob("states-*"))


def test_early_stopping_keeps_the_best_pass_of_its_own_validation(public: PublicModel) -> None:
    # Noise cannot be learned: training goes down while validation goes up.
    generator = torch.Generator().manual_seed(1)
    noise = torch.randint(0, VOCABULARY, (10, 40), generator=generator).tolist()
    settings = replace(SETTINGS, passes=12, validation=0.3, learning_rate=3e-2, patience=1)
    (report,) = finetune(public, [AdapterData("noise", noise)], settings).reports
    assert len(report.validation) < 12
    assert report.validation[report.kept - 1] == min(report.validation)
    assert len(report.validation) == report.kept + 2


def test_progress_rises_to_the_end_and_tells_the_time_left(public: PublicModel) -> None:
    seen: list[Progress] = []
    finetune(public, parts(0, 1), replace(SETTINGS, rows_at_once=1), progress=seen.append)
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    assert seen[-1].seconds_left == pytest.approx(0.0, abs=1e-6)
    assert all(progress.seconds_left >= 0.0 for progress in seen)


def test_progress_of_a_continued_training_ends_at_one_and_has_the_whole_curve(
    public: PublicModel, tmp_path: Path
) -> None:
    settings = replace(SETTINGS, validation=0.2, passes=3, rows_at_once=2)
    data, wanted, seen = parts(0, 1, 2), [], []
    finetune(public, data, settings, progress=wanted.append)
    with pytest.raises(TrainingCancelled):
        finetune(public, data, settings, folder=tmp_path, cancelled=cancel_after(12))
    finetune(public, data, settings, folder=tmp_path, progress=seen.append)
    shares = [progress.share for progress in seen]
    assert shares == sorted(shares)
    assert shares[0] > 0.1
    assert shares[-1] == pytest.approx(wanted[-1].share)
    assert {name: list(losses) for name, losses in seen[-1].curves.items()} == wanted[-1].curves


def test_all_layers_may_learn(public: PublicModel) -> None:
    seen: list[Progress] = []
    settings = replace(SETTINGS, shape=LoraShape(layers=4, rank=2), passes=1)
    finetune(public, parts(0), settings, progress=seen.append)
    assert seen[-1].share == pytest.approx(1.0)


def test_nothing_to_train_and_equal_names_are_refused(public: PublicModel) -> None:
    with pytest.raises(InputError, match="nothing to train"):
        finetune(public, [])
    with pytest.raises(InputError, match="same name"):
        finetune(public, [AdapterData("a", []), AdapterData("a", [])])
    with pytest.raises(InputError, match="at least 1"):
        TrainingSettings(passes=0)


def test_the_sliced_loss_is_cross_entropy_in_value_and_gradient() -> None:
    generator = torch.Generator().manual_seed(2)
    weight = torch.randn(50, 8, generator=generator)
    x = torch.randn(300, 8, generator=generator, requires_grad=True)
    targets = torch.randint(0, 50, (300,), generator=generator)
    pull = torch.rand(300, generator=generator)
    losses = head_losses(FrozenLinear([weight]), x, targets)
    wanted = F.cross_entropy(x @ weight.t(), targets, reduction="none")
    torch.testing.assert_close(losses, wanted)
    (got,) = torch.autograd.grad(losses, x, pull)
    torch.testing.assert_close(got, torch.autograd.grad(wanted, x, pull)[0], atol=1e-5, rtol=1e-4)


def test_documents_are_cut_without_losing_or_inventing_a_token() -> None:
    sequences = cut([[1, 2, 3], [4], [5, 6, 7, 8]], length=4, separator=0)
    real = sequences.weights.bool()
    assert sequences.tokens[real].tolist() == [0, 1, 2, 3, 0, 4, 0, 5, 6, 7, 8]
    assert sequences.targets[real].tolist() == [1, 2, 3, 0, 4, 0, 5, 6, 7, 8, 0]
    assert sequences.count == 11
    assert len(cut([], length=4, separator=0)) == 0
    learn, check = hold_out([[i] for i in range(10)], 0.2, seed=1)
    assert sorted(list(document) for document in [*learn, *check]) == [[i] for i in range(10)]
    assert len(check) == 2
