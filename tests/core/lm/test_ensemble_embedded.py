"""The privacy property of the ensemble at the sizes where it is used."""

import pytest
import torch

from core.lm.ensemble import Ensemble
from core.lm.linear import Precision
from core.lm.stack import LoraShape
from tests.bench.ensembles import embedded_model, prompt_tokens, some_adapters


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float16", "float32"])
@pytest.mark.parametrize("rows", [16, 64])
def test_rows_of_the_embedded_model_are_bit_identical_whatever_the_others(
    rows: int, precision: Precision
) -> None:
    public = embedded_model()
    prompt = prompt_tokens(public)[:20]
    stack = some_adapters(public, rows, LoraShape())

    def answers(names: list[str]) -> torch.Tensor:
        decoder = Ensemble(public, stack.without(names), precision).decoder()
        return torch.stack([decoder.start(prompt), decoder.step(7), decoder.step(9)])

    whole, missing = answers([]), answers(["part-5"])
    kept = [row for row in range(rows + 1) if row != 6]
    assert torch.equal(whole[:, kept], missing[:, kept])
    assert not torch.equal(whole[:, 6], missing[:, 6])
    assert torch.equal(whole[:, 6], answers([name for name in stack.names if name != "part-5"])[:, 6])
