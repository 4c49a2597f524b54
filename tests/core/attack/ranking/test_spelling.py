"""How tokenizers spell candidates: the trie holds exactly the candidates, each with its own tokens."""

from itertools import islice

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from core.attack.ranking.spelling import MOST_SPELLED, Node, Spelling, Tokens, spell, spell_listed
from core.corpus.canaries import CanaryFormat
from core.errors import InputError
from tests.core.attack.tiny import digit_tokenizer


@pytest.fixture(scope="module")
def digits_alone():
    """Like the embedded model's: every digit is a token."""
    return digit_tokenizer()


@pytest.fixture(scope="module")
def digits_joined():
    """Like GPT-2: pairs of digits that were seen together are one token, depending on what stands beside."""
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=330, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    raw.train_from_iterator(["My number is 145572 and 727245, 1455 or 14 55 72 72."] * 9, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=raw)


def leaves(spelling: Spelling):
    """All token paths through the trie."""
    found: list[Tokens] = []
    waiting: list[tuple[Node, Tokens]] = [(spelling.root, ())]
    while waiting:
        node, path = waiting.pop()
        for token, child in spelling.steps(node):
            if child is None:
                found.append((*path, token))
            else:
                waiting.append((child, (*path, token)))
    return found


def encode(tokenizer, text):
    return tuple(tokenizer(text, add_special_tokens=False).input_ids)


TEMPLATES = ["My ID is {digits:2}-{letters:1}.", "Say {words:2} now", "No. {digits:3}"]


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("which", ["digits_alone", "digits_joined"])
def test_every_candidate_has_the_tokens_that_the_tokenizer_gives_it(template, which, request):
    tokenizer = request.getfixturevalue(which)
    form = CanaryFormat(template, words=("amber", "ambergris", "fox"))
    spelling = spell(tokenizer, form)
    assert spelling.candidates == form.candidates
    wanted = [encode(tokenizer, form.prefix + form.fill(index).secret) for index in range(form.candidates)]
    assert [spelling.prompt + spelling.tokens(index) for index in range(form.candidates)] == wanted
    assert sorted(spelling.prompt + path for path in leaves(spelling)) == sorted(wanted)


def test_digits_that_stand_alone_are_never_written_out(digits_alone):
    spelling = spell(digits_alone, CanaryFormat("My ID is {digits:12}"))
    assert spelling.candidates == 10**12
    assert len(spelling.choices) == 12
    assert spelling.below(spelling.root) == 10**12


def test_counts_below_a_node_and_of_nodes_agree_with_the_trie(digits_joined):
    spelling = spell(digits_joined, CanaryFormat("My number is {digits:3}"))
    nodes, waiting = 0, [spelling.root]
    while waiting:
        node = waiting.pop()
        nodes += 1
        children = list(spelling.steps(node))
        below = sum(1 if child is None else spelling.below(child) for _, child in children)
        assert below == spelling.below(node)
        waiting += [child for _, child in children if child is not None]
    assert nodes == spelling.nodes


def test_a_tokenizer_that_joins_neighbours_is_seen_and_has_a_limit(digits_joined):
    short = spell(digits_joined, CanaryFormat("My number is {digits:3}"))
    assert len(short.choices) == 1
    with pytest.raises(InputError, match="joins neighbouring characters"):
        spell(digits_joined, CanaryFormat("My number is {digits:6}"))
    assert MOST_SPELLED < 10**6


def test_a_list_of_secrets_is_spelled_too(digits_alone):
    spelling = spell_listed(digits_alone, "The diagnosis is", [" lupus", " lymphoma", " lup"])
    assert spelling.candidates == 3
    assert len(set(leaves(spelling))) == 3
    with pytest.raises(InputError, match="at least one other"):
        spell_listed(digits_alone, "The diagnosis is", [" lupus"])


def test_a_choice_that_begins_another_is_kept_apart():
    """`a` may end here, or go on to `a b`: the trie offers the token twice, once for each."""
    spelling = Spelling((9,), (((1,), (1, 2)), ((3,), (2,))))
    assert sorted(leaves(spelling)) == sorted([(1, 3), (1, 2), (1, 2, 3), (1, 2, 2)])
    assert spelling.below((0, 0)) == 4
    assert spelling.nodes == 4
    assert len(list(islice(spelling.steps(spelling.root), 5))) == 2
