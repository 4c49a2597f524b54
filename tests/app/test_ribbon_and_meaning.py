"""The ribbon's fixed scale, and the card that says what a spend means."""

import re
from html import unescape

import pytest

from app.components.meaning import meaning_html
from app.components.ribbon import Cost, legend_html, tint, token_html
from core.privacy.meaning import spend_means
from tests.app.payloads import ALL

PACE = 0.002


@pytest.mark.parametrize(
    ("nats", "step"),
    [
        (0.0, 0),
        (1e-9, 1),
        (0.0009, 1),
        (0.0011, 2),
        (0.0021, 2),
        (0.0058, 3),
        (0.0100, 4),
        (0.0170, 5),
        (9.0, 5),
    ],
)
def test_a_tint_is_a_step_of_a_scale_that_the_terms_fix(nats, step):
    assert tint(nats, PACE) == step


def test_a_token_says_its_cost_and_weight_on_hover_and_focus():
    html = token_html(" soup", Cost(0.00123, 0.42, public=False), PACE)
    assert 'data-said="cost 0.00123, weight 0.42"' in html
    assert 'aria-label=" soup: cost 0.00123, weight 0.42"' in html
    assert 'tabindex="-1"' in html  # reached by arrow keys: a long ribbon is one stop of the Tab key
    assert "from the public model" in token_html("x", Cost(0.0, 0.0, public=True), PACE)


def test_tokens_without_a_shape_of_their_own_can_still_be_seen():
    assert ">↵</span>" in token_html("\n", Cost(0.0, 0.0, public=False), PACE)
    assert ">·</span>" in token_html("", Cost(0.0, 0.0, public=False), PACE)


def test_the_legend_has_the_scale_in_numbers():
    assert "under 0.0010" in legend_html(PACE)
    assert "under 0.0160" in legend_html(PACE)


@pytest.mark.parametrize("payload", ALL)
def test_no_token_can_run(payload):
    html = token_html(payload, Cost(0.1, 0.1, public=False), PACE)
    assert len(re.findall("<", html)) == 2
    assert not any(sign in html for sign in ("${", "{{", "`", "\\"))
    assert html.count('"') == 10  # no quote of the token's own ends an attribute


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_the_card_has_every_currency_with_its_condition():
    said = words(meaning_html(spend_means(4.0, 2.0), spend_means(4.0, 0.1)))
    assert "Renyi privacy of order 4, for the text of any one part 2 0.1" in said
    assert "at delta 1e-05, by the tight conversion 5.088" in said
    assert "of order 2 (Theorem C.1), when one user's text changes 5 0.25" in said
    assert "A guesser among 10,000 0.01 % by luck; if all copies lie in one part" in said
    assert "at most" in said


def test_at_order_two_there_is_no_figure_for_one_user_and_the_card_says_so():
    assert "no figure at order 2 or below (Theorem C.1); the part's stands none" in words(
        meaning_html(spend_means(2.0, 2.0), None)
    )


def test_what_was_paid_is_left_out_where_it_may_not_be_seen():
    said = words(meaning_html(spend_means(2.0, 2.0), None))
    assert "for the curator" in said
    assert "<th scope=col>paid so far" not in meaning_html(spend_means(2.0, 2.0), None)
