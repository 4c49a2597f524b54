"""The second look: what it reads, that it merges what was trained, and when it is asked."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from core.context.evaluate import result
from core.context.head import Both, Head
from core.context.learning.build import Built, join
from core.context.learning.second_training import SecondPlan, _adapt, train_second
from core.context.scorer import HeadScorer
from core.context.second import (
    ABOUT,
    WEIGHTS,
    Judgement,
    SecondLook,
    judged,
    lower_layers,
    save_second,
    tokenise,
)
from core.errors import ModelUnavailable
from core.lm.public import load_public
from core.settings import Settings

PAIRS = [
    ("My PIN is 4412.", ""),
    ("it rains", "My card came."),
    ("", "a"),
    ("x " * 400, ""),
    ("émigré 我 🙂", "b " * 300),
    ("4412", "Agent: your code?"),
]
PLAN = SecondPlan(layers=3, rank=4, epochs=40, batch=8, rate=1e-2, dropout=0.0)


@pytest.fixture(scope="module")
def public(tiny_llama):
    return load_public(str(tiny_llama), Settings(_env_file=None))


@pytest.fixture(scope="module")
def families(some_families):
    """Four that are learned from, and a twin of each that calibrates."""
    return [*some_families, *map(calibrating, some_families)]


def calibrating(family):
    names = (f"{family.name}, {number}" for number in range(1000))
    return next(twin for name in names if (twin := replace(family, name=name)).calibrates)


@pytest.fixture(scope="module")
def trained(public, families):
    return train_second(families, public, PLAN)


@pytest.fixture(scope="module")
def folder(trained, tmp_path_factory):
    place = tmp_path_factory.mktemp("second")
    save_second(place, trained.adapters, trained.judgement, trained.about)
    return place


@pytest.fixture(scope="module")
def look(folder, public):
    return SecondLook(folder, public)


def test_what_was_trained_is_what_reads(trained, public, look):
    """The adapters beside the layers, as in training, and merged into them give the same logits."""
    lower = lower_layers(public, PLAN.layers)
    for name, (a, b) in _adapt(lower, PLAN).items():
        a.data = trained.adapters[f"{name}.a"].half().float()
        b.data = trained.adapters[f"{name}.b"].half().float() / 2.0
    with torch.no_grad():
        expected = judged(lower, trained.judgement, tokenise(public.tokenizer, PAIRS)).numpy()
    np.testing.assert_allclose(look.logits(PAIRS), expected, atol=2e-4)
    assert np.ptp(expected) > 1e-3


def test_a_logit_depends_neither_on_the_order_nor_on_the_others(folder, public):
    alone = [SecondLook(folder, public).logits([pair])[0] for pair in PAIRS]
    turned = SecondLook(folder, public).logits(PAIRS[::-1])[::-1]
    np.testing.assert_allclose(turned, alone, atol=2e-5)


def test_the_sentence_before_counts_and_an_empty_request_is_nothing(look):
    with_it, without = look.logits([("4412", "Agent: your code?"), ("4412", "")])
    assert abs(with_it - without) > 1e-5
    assert look.logits([]).shape == (0,)


def test_the_shared_language_model_stays_as_it_was(public, folder):
    before = {name: value.clone() for name, value in public.model.state_dict().items()}
    SecondLook(folder, public).logits(PAIRS)
    assert all(torch.equal(value, before[name]) for name, value in public.model.state_dict().items())


def test_it_learns_the_families_that_do_not_calibrate(trained, look, some_families):
    assert trained.about.families == len(some_families) == 4
    examples = [each for family in some_families for each in family.examples()]
    logits = look.logits([(each.text, each.before) for each in examples])
    sensitive = np.array([each.sensitive for each in examples])
    assert logits[sensitive].mean() > logits[~sensitive].mean() + 0.5


def test_the_same_seed_trains_the_same_and_calibrating_families_do_not_matter(
    public, families, some_families
):
    short = replace(PLAN, epochs=1)
    once, again = train_second(families, public, short), train_second(some_families, public, short)
    assert all(torch.equal(value, again.adapters[name]) for name, value in once.adapters.items())
    other = train_second(some_families, public, replace(short, seed=1))
    assert not torch.equal(other.adapters["0.mlp.up_proj.a"], once.adapters["0.mlp.up_proj.a"])


def test_what_does_not_fit_is_refused_in_a_sentence(folder, public, tmp_path):
    def broken(about: str | None = None, weights: bytes | None = None) -> None:
        (tmp_path / ABOUT).write_text(about or (folder / ABOUT).read_text())
        (tmp_path / WEIGHTS).write_bytes(weights or (folder / WEIGHTS).read_bytes())
        SecondLook(tmp_path, public)

    facts = json.loads((folder / ABOUT).read_text())
    with pytest.raises(ModelUnavailable, match="another language model"):
        broken(about=json.dumps({**facts, "model": "0" * 64}))
    with pytest.raises(ModelUnavailable, match="does not fit"):
        broken(about=json.dumps({**facts, "layers": 4}))
    with pytest.raises(ModelUnavailable, match="layers or more"):
        broken(about=json.dumps({**facts, "layers": 40}))
    for about, weights in (("no json", None), ('{"layers": 3}', None), (None, b"\x80\x04pickle")):
        with pytest.raises(ModelUnavailable, match="cannot be read"):
            broken(about, weights)


class Watched:
    """A second look that can be foreseen, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def logits(self, pairs):
        self.asked += pairs
        return np.full(len(pairs), 3.0)


def test_only_what_the_encoder_leaves_open_is_looked_at_twice(tiny):
    scorer: HeadScorer = tiny.scorer
    sentences = ["My PIN is 4412.", "it rains", "the night nurse", "soup", "a key", "nobody came"]
    contexts = [""] * len(sentences)
    first = scorer.logits(sentences, contexts)
    low, high = np.sort(first)[[1, -2]]
    both, watched = Both(low, high, first=0.5, second=2.0, shift=-1.0), Watched()
    twice = replace(scorer, head=replace(scorer.head, both=both), second=lambda: watched)  # type: ignore[arg-type,return-value]
    found = twice.logits(sentences, contexts)
    open_ = (first > low) & (first < high)
    assert [own for own, _ in watched.asked] == [s for s, o in zip(sentences, open_, strict=True) if o]
    np.testing.assert_allclose(found[open_], 0.5 * first[open_] + 5.0)
    np.testing.assert_array_equal(found[~open_], first[~open_])
    assert replace(twice, second=None).logits(sentences, contexts).tolist() == first.tolist()


def test_how_the_two_go_together_is_learned_from_families_that_neither_saw(tiny, families, draw):
    examples = tuple(each for family in families for each in family.examples())
    sensitive = np.array([each.sensitive for each in examples])
    logits = draw.normal(np.where(sensitive, 1.0, -1.0), 1.5)
    truth = {each.text: each.sensitive for each in examples}
    seen: list[str] = []

    class Telling:
        def logits(self, pairs):
            seen.extend(own for own, _ in pairs)
            return np.array([4.0 if truth[own] else -4.0 for own, _ in pairs])

    made = Built(tiny.scorer.head, result("x", 0.5, examples, logits), examples, logits)
    joined = join(made, Telling(), families)  # type: ignore[arg-type]
    known = {family.name for family in families if family.calibrates}
    assert seen == [each.text for each in examples if each.family in known]
    assert joined.head.both.second > joined.head.both.first > 0.0
    assert joined.head.threshold != tiny.threshold
    assert {line.family for line in joined.cross_validated.families} == known
    assert joined.cross_validated.recall.value > 0.95
    assert joined.cross_validated.false_positives.value <= 0.05


def test_a_head_with_a_second_look_survives_its_file(tiny, tmp_path):
    both = Both(-3.5, 4.25, 0.5, 0.75, 0.1)
    replace(tiny.scorer.head, both=both).save(tmp_path)
    assert Head.load(tmp_path).both == both
    facts = json.loads((tmp_path / "head.json").read_text())
    facts["both"]["shift"] = float("nan")
    (tmp_path / "head.json").write_text(json.dumps(facts))
    with pytest.raises(ModelUnavailable):
        Head.load(tmp_path)


def test_an_empty_sentence_has_a_logit():
    judgement = Judgement(4).eval()
    assert torch.isfinite(judgement(torch.randn(1, 3, 4), torch.zeros(1, 3))).all()
