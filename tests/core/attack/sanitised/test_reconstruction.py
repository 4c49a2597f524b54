"""The reconstruction attack on small worlds: as strong as it should be, and blind to the truth."""

from dataclasses import replace

import numpy as np
import pytest

from core.attack.intervals import clopper_pearson
from core.attack.sanitised.reconstruction import reconstruct
from core.attack.sanitised.word_prior import TextSoFar, spellings
from core.attack.watch import AttackCancelled
from core.errors import InputError
from core.lm.public import load_public
from core.sanitize import AllWords, Digits, Vocabulary, make_mechanism, sanitize
from core.settings import Settings

WORDS = ["soup", "tea", "nurse", "slept", "bread", "well", "number", "patient", "night", "wrote", "is", "my"]
PREFIX = "The night nurse wrote that "


def world(words=WORDS, dimension=6, seed=3) -> Vocabulary:
    vectors = np.random.default_rng(seed).normal(size=(len(words), dimension))
    return Vocabulary(list(words), vectors.astype(np.float32))


@pytest.fixture(scope="module")
def public(tiny_llama, tmp_path_factory):
    return load_public(str(tiny_llama), Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("data")))


def text_of(count: int, seed: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, size=count))


@pytest.mark.parametrize("noise", ["euclidean", "mahalanobis", "tem"])
@pytest.mark.parametrize("attacker", ["nearest", "bayes"])
def test_at_a_huge_epsilon_everything_comes_back(noise, attacker, public):
    mechanism = make_mechanism(noise, world(), 500.0)
    # Seeded: TEM replaces a word once in a thousand times at any epsilon.
    result = sanitize(text_of(20, 0), mechanism, AllWords(), rng=np.random.default_rng(0))
    # TEM keeps a floor of 0.1 % under all other words, which a prior that is wrong here may outweigh.
    prior = None if noise == "tem" else public
    attack = reconstruct(result, mechanism, attacker=attacker, public=prior)
    assert attack.right == len(attack.words) == 20
    assert attack.low > 0.8
    assert attack.undone == 0  # nothing was changed, so nothing was undone


@pytest.mark.parametrize("attacker", ["nearest", "bayes"])
def test_at_a_tiny_epsilon_only_chance_is_left(attacker):
    mechanism = make_mechanism("euclidean", world(), 0.01)
    result = sanitize(text_of(800, 1), mechanism, AllWords(), rng=np.random.default_rng(2))
    attack = reconstruct(result, mechanism, attacker=attacker)
    chance = clopper_pearson(attack.right, len(attack.words), confidence=0.9999)
    assert chance.low < 1 / len(WORDS) < chance.high


@pytest.fixture(scope="module")
def drawn_from_the_prior(public):
    """120 words, each drawn from what the language model expects after the prefix, and perturbed."""
    vocabulary, rng = world(), np.random.default_rng(4)
    text = TextSoFar(public)
    text.append(PREFIX)
    prior = np.array([np.exp(text.log_probabilities(spellings(word))).sum() for word in WORDS])
    mechanism = make_mechanism("euclidean", vocabulary, 2.0)
    truths = rng.choice(WORDS, size=120, p=prior / prior.sum())
    results = []
    for truth in truths:
        result = sanitize(PREFIX + truth, mechanism, AllWords(), rng=rng)
        # Only the last word is attacked; the prefix is known to the attacker as it stands.
        pieces = [replace(piece, output=piece.source, state="plain") for piece in result.pieces[:-1]]
        results.append(replace(result, pieces=(*pieces, result.pieces[-1])))
    return mechanism, results


@pytest.fixture(scope="module")
def guesses(drawn_from_the_prior, public):
    """The guesses of all attackers at each of these words."""
    mechanism, results = drawn_from_the_prior
    attacks = {"bayes": {"public": public}, "flat": {}, "nearest": {"attacker": "nearest"}}
    return {
        name: [reconstruct(result, mechanism, **attack).words[0] for result in results]
        for name, attack in attacks.items()
    }


def right(words) -> np.ndarray:
    return np.array([word.right for word in words], int)


@pytest.mark.parametrize("weaker", ["nearest", "flat"])
def test_with_the_right_prior_bayes_is_better_than_nearest_and_than_a_flat_prior(guesses, weaker):
    """A mutant that ignores the prior is the flat one, and is seen to be worse."""
    gain = right(guesses["bayes"]) - right(guesses[weaker])
    assert gain.mean() > 2.5 * gain.std() / np.sqrt(gain.size) > 0


def test_bayes_says_how_often_it_is_right(guesses):
    """Under its own prior and law, the mean posterior of the guesses is the share of right ones."""
    words = guesses["bayes"]
    share = clopper_pearson(right(words).sum(), len(words), confidence=0.999)
    assert share.low < np.mean([word.probability for word in words]) < share.high


def test_where_the_output_tells_nothing_the_prior_decides(public):
    mechanism = make_mechanism("euclidean", world(), 0.001)
    text = TextSoFar(public)
    text.append(PREFIX)
    expected = max(WORDS, key=lambda word: np.exp(text.log_probabilities(spellings(word))).sum())
    for truth in ("soup", "is", "night"):
        result = sanitize(PREFIX + truth, mechanism, AllWords())
        pieces = [replace(piece, output=piece.source, state="plain") for piece in result.pieces[:-1]]
        last = replace(result, pieces=(*pieces, result.pieces[-1]))
        assert reconstruct(last, mechanism, public=public).words[0].guess == expected


@pytest.mark.parametrize("attacker", ["nearest", "bayes"])
def test_the_guesses_do_not_depend_on_the_truth(attacker, public):
    """A mutant that peeks at the source would change its guesses with it."""
    mechanism = make_mechanism("euclidean", world(), 2.0)
    result = sanitize(text_of(12, 5), mechanism, AllWords())
    blind = replace(result, pieces=tuple(replace(p, source="?" * len(p.source)) for p in result.pieces))
    seen = reconstruct(result, mechanism, attacker=attacker, public=public)
    unseen = reconstruct(blind, mechanism, attacker=attacker, public=public)
    assert [word.others for word in seen.words] == [word.others for word in unseen.words]
    assert unseen.right == 0


def test_the_attacker_knows_that_the_policy_touched_numbers_only(public):
    vocabulary = world([*WORDS, "1", "2", "31", "1999"])
    mechanism = make_mechanism("euclidean", vocabulary, 1.0)
    result = sanitize("Room 31, bed 2, since 1999.", mechanism, Digits(), rng=np.random.default_rng(0))
    for attack in (
        reconstruct(result, mechanism, attacker="nearest"),
        reconstruct(result, mechanism, public=public),
    ):
        assert len(attack.words) == 3
        assert {word.guess for word in attack.words} <= {"1", "2", "31", "1999"}


def test_a_word_outside_the_vocabulary_is_not_named():
    mechanism = make_mechanism("euclidean", world([*WORDS, "1", "2"]), 500.0)
    result = sanitize("My number is 145572", mechanism, Digits())
    attack = reconstruct(result, mechanism)
    assert (attack.right, len(attack.words)) == (0, 1)
    assert attack.words[0].changed


def test_what_was_undone_is_told_apart_from_what_had_stayed():
    mechanism = make_mechanism("euclidean", world(), 500.0)
    result = sanitize("soup tea", mechanism, AllWords())
    lied = replace(result, pieces=tuple(replace(p, source=p.source.upper()) for p in result.pieces))
    attack = reconstruct(lied, mechanism)
    assert (attack.right, attack.undone) == (2, 0)  # upper case is the same word


def test_progress_ends_at_one_and_a_cancelled_attack_keeps_what_it_has():
    mechanism = make_mechanism("euclidean", world(), 2.0)
    result = sanitize(text_of(10, 6), mechanism, AllWords())
    shares = []
    whole = reconstruct(result, mechanism, progress=lambda reached: shares.append(reached.share))
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert whole.complete
    asked = iter([False] * 4 + [True] * 20)
    part = reconstruct(result, mechanism, cancelled=lambda: next(asked))
    assert not part.complete
    assert part.words == whole.words[:4]
    first = reconstruct(result, mechanism, most=3)
    assert first.words == whole.words[:3]
    assert not first.complete
    with pytest.raises(AttackCancelled):
        reconstruct(result, mechanism, cancelled=lambda: True)


def test_bad_input_gets_a_sentence():
    mechanism = make_mechanism("euclidean", world(), 2.0)
    with pytest.raises(InputError, match="nothing to undo"):
        reconstruct(sanitize("No digits here.", mechanism, Digits()), mechanism)
    result = sanitize("soup", mechanism, AllWords())
    with pytest.raises(InputError, match="no attacker called"):
        reconstruct(result, mechanism, attacker="oracle")  # type: ignore[arg-type]
    other = make_mechanism("euclidean", world(["x", "y"], 2), 2.0)
    with pytest.raises(InputError, match="vocabulary"):
        reconstruct(result, other)
