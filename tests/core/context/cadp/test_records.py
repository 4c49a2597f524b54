"""Records cover the corpus, keep to their length, and know of no other document."""

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core.context.cadp.records import portions, read_records
from tests.core.context.cadp.learners import records, vocabulary

LENGTH = 24
DOCUMENTS = [
    "The night nurse wrote that the patient slept well. My number is 145572. Soup, tea and bread.",
    "One sentence without an end",
    "A very long sentence " + "that goes on and on " * 30 + "until it ends.",
    "",
    "   \n ",
]


def read(documents, length=LENGTH):
    return read_records(documents, vocabulary().encode, length, vocabulary().separator)


def test_every_record_fits_and_every_sentence_is_in_one():
    found = read(DOCUMENTS)
    assert int(found.lengths.max()) <= LENGTH
    decoded = " ".join(vocabulary().tokenizer.decode(list(tokens)) for tokens in found.tokens)
    for document in DOCUMENTS:
        for word in document.split():
            assert word in decoded.replace(" ", "") or word in decoded


def test_a_document_adds_its_own_records_and_changes_no_other():
    whole = read(DOCUMENTS)
    apart = [read([document]) for document in DOCUMENTS]
    assert whole.tokens == tuple(tokens for part in apart for tokens in part.tokens)
    assert whole.texts == tuple(text for part in apart for text in part.texts)


def test_a_sentence_that_is_cut_keeps_all_of_its_text_for_the_flags():
    found = read([DOCUMENTS[2]])
    assert len(found) > 3
    assert all("until it ends" in text or "A very long" in text or "goes on" in text for text in found.texts)
    assert found.texts[0] == found.texts[1]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=120), max_size=4))
def test_no_character_of_any_text_is_lost_but_white_space(documents):
    found = read(documents)
    assert all(0 < len(tokens) < LENGTH for tokens in found.tokens)
    decoded = vocabulary().tokenizer.decode([token for tokens in found.tokens for token in tokens])
    assert "".join(decoded.split()) == "".join("".join(documents).split())


def test_portions_hold_every_chosen_record_once_within_their_positions():
    data = records(40)
    chosen = torch.tensor([i for i in range(40) if i % 3])
    found = list(portions(data, chosen, 48))
    assert sorted(i for portion in found for i in portion) == chosen.tolist()
    for portion in found:
        assert len(portion) == 1 or len(portion) * int(data.lengths[portion].max()) <= 48


def test_padding_repeats_the_separator_with_weight_zero():
    data = records(3)
    inputs, targets, weights = data.padded([0, 1, 2])
    for row in range(3):
        length = len(data.tokens[row])
        assert inputs[row, : length + 1].tolist() == [0, *data.tokens[row]]
        assert targets[row, : length + 1].tolist() == [*data.tokens[row], 0]
        assert weights[row].tolist() == [1.0] * (length + 1) + [0.0] * (inputs.shape[1] - length - 1)
