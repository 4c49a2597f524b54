"""The alternative detector: a transformer such as DistilBERT, fine-tuned as a whole, as in the paper."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from core.context.batches import by_length
from core.context.detector import Detector
from core.context.learning.widen import Target
from core.context.nearest import NearFamily
from core.context.sentences import readable
from core.errors import InputError, ModelUnavailable
from core.lm.hub import resolve

DISTILBERT = "distilbert-base-uncased"
ABOUT = "detector.json"
_TOKENS = 256
_BATCH_TOKENS = 2048


@dataclass(frozen=True)
class FineTuning:
    """The numbers of a fine-tuning."""

    epochs: int = 2
    batch: int = 16
    rate: float = 5e-5
    seed: int = 0
    threshold: float = 0.5


@dataclass(frozen=True, eq=False)
class ClassifierScorer:
    """Scores a sentence and the one before it as a pair of segments."""

    model: Any
    tokenizer: Any

    def scores(self, sentences: Sequence[str], contexts: Sequence[str]) -> NDArray[np.float64]:
        """The probability of each sentence: (n,); equal pairs are read once."""
        pairs = list(dict.fromkeys(zip(sentences, contexts, strict=True)))
        ids = [_encode(self.tokenizer, *pair) for pair in pairs]
        found: dict[tuple[str, str], float] = {}
        with torch.inference_mode():
            for rows in by_length([len(each["input_ids"]) for each in ids], _BATCH_TOKENS):
                batch = self.tokenizer.pad([ids[row] for row in rows], return_tensors="pt")
                logits = self.model(**batch).logits[:, 0].double()
                found.update(zip((pairs[row] for row in rows), logits.sigmoid().tolist(), strict=True))
        return np.array([found[pair] for pair in zip(sentences, contexts, strict=True)])

    def nearest(self, sentence: str, n: int) -> tuple[NearFamily, ...]:
        """A fine-tuned classifier keeps no families to compare with."""
        return ()


def fine_tune(
    name: str,
    targets: Sequence[Target],
    plan: FineTuning | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> Detector:
    """Fine-tune a transformer by name or from a folder, with AdamW on binary cross-entropy."""
    plan = plan or FineTuning()
    if not targets:
        raise InputError("There are no sentences to train on.")
    torch.manual_seed(plan.seed)
    draw = random.Random(plan.seed)
    model, tokenizer = _load(resolve(name, what="classifier"), labels=1)
    encoded = [_encode(tokenizer, target.text, target.before) for target in targets]
    wanted = torch.tensor([target.probability for target in targets])
    optimizer = torch.optim.AdamW(model.parameters(), lr=plan.rate, weight_decay=0.01)
    steps = plan.epochs * -(-len(targets) // plan.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, plan.rate, total_steps=steps, pct_start=0.1)
    model.train()
    for done in range(steps):
        if done % (steps // plan.epochs) == 0:
            order = draw.sample(range(len(targets)), len(targets))
        start = done % (steps // plan.epochs) * plan.batch
        rows = order[start : start + plan.batch]
        batch = tokenizer.pad([encoded[row] for row in rows], return_tensors="pt")
        loss = nn.functional.binary_cross_entropy_with_logits(model(**batch).logits[:, 0], wanted[rows])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if progress:
            progress((done + 1) / steps, loss.item())
    return Detector(name, ClassifierScorer(model.eval().requires_grad_(False), tokenizer), plan.threshold)


def save_classifier(detector: Detector, folder: Path) -> None:
    """Write the model as safetensors with its tokenizer and the threshold."""
    scorer = detector.scorer
    if not isinstance(scorer, ClassifierScorer):
        raise InputError("This detector is no fine-tuned classifier.")
    scorer.model.save_pretrained(folder)
    scorer.tokenizer.save_pretrained(folder)
    (folder / ABOUT).write_text(json.dumps({"threshold": detector.threshold}) + "\n", encoding="utf-8")


def load_classifier(folder: Path) -> Detector:
    """Read what `save_classifier` wrote."""
    model, tokenizer = _load(folder, labels=None)
    try:
        threshold = float(json.loads((folder / ABOUT).read_text(encoding="utf-8"))["threshold"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelUnavailable(f"{folder} is a model, but not one that was trained as a detector.") from error
    return Detector(folder.name, ClassifierScorer(model.eval().requires_grad_(False), tokenizer), threshold)


def _load(folder: Path, labels: int | None) -> tuple[Any, Any]:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    if not any(folder.glob("*.safetensors")):
        raise ModelUnavailable(f"{folder} holds no safetensors weights; other formats are not loaded.")
    settings: dict[str, Any] = {} if labels is None else {"num_labels": labels}
    try:
        model = AutoModelForSequenceClassification.from_pretrained(
            folder, dtype=torch.float32, use_safetensors=True, local_files_only=True, **settings
        )
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0][:200]
        raise ModelUnavailable(f"{folder} does not load as a classifier: {reason}") from error
    return model, tokenizer


def _encode(tokenizer: Any, sentence: str, before: str) -> dict[str, list[int]]:
    pair = [readable(part) for part in (sentence, before) if part] or [""]
    return dict(tokenizer(*pair, truncation=True, max_length=_TOKENS))
