"""What the benches of the ensemble share: the embedded model, and adapters that are not zero."""

from typing import Any

import torch

from core import memory
from core.lm.public import PublicModel, load_public
from core.lm.stack import AdapterStack, LoraShape, fresh_stack
from core.lm.transformer import read_transformer
from core.settings import EMBEDDED, load_settings

PROMPT = (
    "The patient was admitted on Monday with a mild fever and asked for the results of the last examination. "
    "The nurse wrote in the file that the temperature had fallen since the morning, and that"
)


def embedded_model() -> PublicModel:
    """The embedded public model, in a process whose memory is settled as the program's is."""
    memory.settle()
    return load_public(EMBEDDED, load_settings())


def some_adapters(public: PublicModel, rows: int, shape: LoraShape) -> AdapterStack:
    """Adapters whose answers differ from the public model's about as trained ones do."""
    names = [f"part-{row}" for row in range(rows)]
    stack = fresh_stack(read_transformer(public.model).places(shape), shape, names, range(rows))
    generator = torch.Generator().manual_seed(1)
    for _, _, b in stack.tensors():
        b.normal_(0.0, 0.01, generator=generator)
    return stack


def prompt_tokens(public: PublicModel) -> list[int]:
    """The prompt of all benches."""
    tokens: Any = public.tokenizer(PROMPT).input_ids
    return list(tokens)
