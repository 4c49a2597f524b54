"""A tiny real sentence encoder: the same classes and files as the embedded one, made in a second."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import BertWordPieceTokenizer
from transformers import BertConfig, BertModel, BertTokenizer

from core.context.detector import Detector
from core.context.head import About, Head
from core.context.learning.families import load_families
from core.context.learning.teach import save_features
from core.context.nearest import centres, save_centres
from core.context.reader import Reader
from core.context.scorer import HeadScorer

LAYERS = 3


def make_encoder(folder: Path, *, layers: int = LAYERS, seed: int = 0) -> Path:
    """A sentence-transformers folder with a random BERT of 32 dimensions."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    bert = folder / "bert"
    bert.mkdir(parents=True)
    words = BertWordPieceTokenizer(lowercase=True)
    lines = [line for family in load_families() for line in family.lines]
    words.train_from_iterator(lines, vocab_size=1500, show_progress=False)
    words.save_model(str(bert))
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=words.get_vocab_size(),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=512,
    )
    BertModel(config).save_pretrained(bert)
    BertTokenizer(str(bert / "vocab.txt")).save_pretrained(bert)
    transformer = Transformer(str(bert), max_seq_length=256)
    model = SentenceTransformer(modules=[transformer, Pooling(32)], device="cpu")
    model.save(str(folder / "encoder"))
    return folder / "encoder"


def random_head(*, layers: tuple[int, ...] = (1, 3), units: int = 24, seed: int = 1) -> Head:
    """A head for the tiny encoder that nobody trained."""
    draw = np.random.default_rng(seed)
    about = About(encoder="tiny", layers=layers, families=4, sentences=60, seed=seed)
    return Head(
        hidden=draw.normal(0.0, 0.3, (32 * len(layers), units)).astype(np.float16).astype(np.float32),
        offsets=draw.normal(0.0, 0.3, units).astype(np.float32),
        weights=draw.normal(0.0, 1.0, units),
        bias=0.1,
        threshold=0.5,
        about=about,
    )


def tiny_detector(encoder: Any, assets: Path) -> Detector:
    """A detector on the tiny encoder with a random head."""
    head = random_head()
    reader = Reader(encoder, head)
    assets.mkdir(parents=True, exist_ok=True)
    families = load_families()[::9]
    examples = [example for family in families for example in family.examples()]
    texts = [example.text for example in examples]
    features = reader.features(texts, [example.before for example in examples])
    save_features(assets, features)
    save_centres(assets, families, centres(encoder, families))
    return Detector("tiny", HeadScorer(head, reader, encoder, assets), head.threshold)
