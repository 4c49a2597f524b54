"""Tiny real models with random weights: a Llama with grouped heads and a GPT-2."""

from pathlib import Path
from typing import Any, cast

import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from core.lm.public import PublicModel
from core.lm.stack import AdapterStack, LoraShape, fresh_stack
from core.lm.transformer import read_transformer

VOCABULARY = 97
CONTEXT = 48


def tiny_model(kind: str) -> Any:
    torch.manual_seed(7)
    if kind == "llama":
        config = LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=48,
            intermediate_size=80,
            num_hidden_layers=4,
            num_attention_heads=6,
            num_key_value_heads=2,
            max_position_embeddings=CONTEXT,
            initializer_range=0.2,
            tie_word_embeddings=True,
        )
        return LlamaForCausalLM(config).eval().requires_grad_(False)
    gpt2 = GPT2Config(
        vocab_size=VOCABULARY,
        n_embd=48,
        n_layer=4,
        n_head=6,
        n_positions=CONTEXT,
        initializer_range=0.2,
        bos_token_id=0,
        eos_token_id=0,
    )
    return GPT2LMHeadModel(gpt2).eval().requires_grad_(False)


def tiny_public(kind: str, folder: Path) -> PublicModel:
    model = tiny_model(kind)
    model.save_pretrained(folder)
    return PublicModel(name=f"tiny-{kind}", folder=folder, model=model, tokenizer=cast(Any, None))


def random_stack(public: PublicModel, rows: int, shape: LoraShape) -> AdapterStack:
    """Adapters that change the model a lot: B is random too."""
    names = [f"part-{row}" for row in range(rows)]
    stack = fresh_stack(read_transformer(public.model).places(shape), shape, names, range(rows))
    generator = torch.Generator().manual_seed(99)
    for _, _, b in stack.tensors():
        b.normal_(0.0, 0.1, generator=generator)
    return stack
