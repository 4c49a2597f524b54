"""Packed linear maps give what the others give."""

import torch
from torch import nn

from core.context.packed import PackedLinear, pack, packed


def model() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Embedding(50, 24),
        nn.Linear(24, 40),
        nn.GELU(),
        nn.Sequential(nn.Linear(40, 8, bias=False), nn.LayerNorm(8)),
    ).eval()


@torch.inference_mode()
def test_a_packed_model_says_the_same_for_every_shape():
    plain = model()
    ours = packed(plain)
    for shape in ((1, 1), (3, 7), (64, 33)):
        tokens = torch.randint(0, 50, shape)
        torch.testing.assert_close(ours(tokens), plain(tokens), atol=1e-5, rtol=1e-5)


def test_the_model_of_others_stays_as_it_was_and_shares_its_embeddings():
    plain = model()
    ours = packed(plain)
    assert isinstance(ours.get_submodule("1"), PackedLinear) is torch.backends.mkldnn.is_available()
    assert isinstance(plain[1], nn.Linear)
    assert ours.get_submodule("0") is plain[0]
    assert packed(plain) is ours


def test_other_precisions_are_left_alone():
    assert isinstance(pack(model().double()).get_submodule("1"), nn.Linear)
