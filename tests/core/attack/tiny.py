"""A tiny model that can memorise: wide enough embeddings for sharp answers, and digits that stand alone."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from tests.tiny import TEXT

END = "<|endoftext|>"


def digit_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level, with every digit a token of its own, as the embedded model's is."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=[END], initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator(TEXT * 3, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=END, bos_token=END)


def memorising_model(folder: Path) -> Path:
    """A random Llama with its tokenizer, saved as safetensors."""
    tokenizer = digit_tokenizer()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        initializer_range=0.1,
        tie_word_embeddings=False,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        model.model.embed_tokens.weight.normal_(0.0, 1.0)
        model.lm_head.weight.normal_(0.0, 0.3)  # so that one token can have nearly all of the mass
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
