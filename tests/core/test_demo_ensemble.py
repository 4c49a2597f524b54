"""The shipped ensemble shows what it is there to show, on the embedded model."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from core.catalogue import SHIPPED, find_ensemble
from core.corpus import demo_secrets, load_demo
from core.corpus.demo import DEMO_KEY
from core.corpus.partition import partition_corpus
from core.ensembles import WHOLE
from core.lm.adapters import load_ensemble
from core.lm.ensemble import Ensemble
from core.lm.public import PublicModel, load_public
from core.predict import Decoding, StrictSubMix
from core.settings import Settings


@pytest.fixture(scope="module")
def public() -> PublicModel:
    settings = Settings(_env_file=None)
    return load_public(settings.model, settings)


@pytest.fixture(scope="module")
def ensemble(public: PublicModel) -> Ensemble:
    return Ensemble(public, load_ensemble(SHIPPED, public)[0])


@pytest.fixture(scope="module")
def recited(public: PublicModel, ensemble: Ensemble) -> dict[str, np.ndarray]:
    """For every model and secret: whether each token of the secret is the likeliest after those before."""
    names = ensemble.names
    found: dict[str, list[bool]] = {name: [] for name in names}
    for secret in demo_secrets():
        prompt = public.tokenizer(secret.prompt, add_special_tokens=False).input_ids
        whole = public.tokenizer(f"{secret.prompt} {secret.secret}", add_special_tokens=False).input_ids
        assert whole[: len(prompt)] == prompt
        states = ensemble.states(whole)[:, len(prompt) - 1 : -1]
        best = ensemble.logits(states).argmax(dim=-1)  # (rows, T)
        right = (best == torch.tensor(whole[len(prompt) :])).all(dim=1)
        for name, hit in zip(names, right.tolist(), strict=True):
            found[name].append(hit)
    return {name: np.array(hits) for name, hits in found.items()}


def test_the_model_trained_on_everything_recites_most_secrets(recited: dict[str, np.ndarray]) -> None:
    assert recited[WHOLE].mean() > 0.5


def test_the_public_model_knows_hardly_any(recited: dict[str, np.ndarray]) -> None:
    assert recited["public"].mean() <= 0.1


def test_strict_keeps_to_the_public_law_where_one_part_knows_the_secret(
    public: PublicModel, ensemble: Ensemble
) -> None:
    """The price of any step is paid, and the secret's first token gets a share of one part at the most."""
    parts = [row for row, name in enumerate(ensemble.names) if name not in ("public", WHOLE)]
    for secret in demo_secrets()[:8]:
        tokens = public.tokenizer(f"{secret.prompt} {secret.secret}", add_special_tokens=False).input_ids
        prompt = public.tokenizer(secret.prompt, add_special_tokens=False).input_ids
        decoded = Decoding().from_logits(ensemble.logits(ensemble.states(prompt)[:, -1]))
        protocol = StrictSubMix(len(parts), 2.0, 2.0, 1024, w_max=0.7)
        step = protocol.step(decoded.public, decoded.pmfs[parts])
        assert step.losses.max() <= 2.0 / 1024 * 1.001
        assert step.pmf[tokens[len(prompt)]] <= decoded.public[tokens[len(prompt)]] + 1.0 / len(parts) + (
            decoded.pmfs[parts, tokens[len(prompt)]].mean()
        )


def test_its_split_is_the_demo_corpus_by_its_key() -> None:
    entry = find_ensemble(Settings(_env_file=None), "demo")
    partition = partition_corpus(load_demo(), 8, key=DEMO_KEY, halves=True)
    assert entry.synthetic
    assert entry.manifest.partition["key"] == partition.fingerprint
    assert entry.corpus == load_demo().name


def test_it_is_small() -> None:
    size = sum(path.stat().st_size for path in SHIPPED.rglob("*") if path.is_file())
    assert size < 7_000_000
    assert json.loads((Path(SHIPPED) / "manifest.json").read_text())["synthetic"] is True
