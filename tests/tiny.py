"""Tiny real models, made in a second: the same classes and file formats as the large ones."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

TEXT = ["The night nurse wrote that the patient slept well.", "My number is 145572.", "Soup, tea and bread."]


def make_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer, so that every text has tokens and comes back whole."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|endoftext|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(TEXT, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|endoftext|>", bos_token="<|endoftext|>"
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def make_model(folder: Path, kind: str = "llama", *, layers: int = 4, seed: int = 0) -> Path:
    """A random model of the given kind with its tokenizer, saved as safetensors."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(folder)
    torch.manual_seed(seed)
    if kind == "llama":
        config = LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=layers,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=256,
            tie_word_embeddings=True,
        )
        model = LlamaForCausalLM(config)
    else:
        config = GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=layers, n_head=4, n_positions=256)
        model = GPT2LMHeadModel(config)
    model.save_pretrained(folder)
    return folder
