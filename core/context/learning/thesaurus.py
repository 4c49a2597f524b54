"""Words that stand for one another, and how to put one in another's place."""

import random
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

_SETS = """
code / number / digits
password / passphrase / login / secret word
phone / mobile / cell phone / telephone
card / bank card
doctor / physician / GP
illness / disease / condition
pills / tablets / medicine
money / cash / funds
pay / wages / salary
boss / manager / supervisor
company / firm / employer
house / home / place
flat / apartment
street / road
child / kid
children / kids
mother / mum / mom
father / dad
husband / partner / spouse
wife / partner / spouse
boyfriend / partner
friend / mate / buddy
police / officers
lawyer / solicitor / attorney
prison / jail
car / vehicle
letter / note / message
text / message
tell / inform
told / said to
say / state
ask / enquire
know / have heard
give / hand
send / pass on
show / display
hide / conceal
hid / concealed
hit / struck
afraid / scared / frightened
ashamed / embarrassed
sad / unhappy
ill / sick / unwell
secret / confidential / private
secretly / in secret
nobody / no one
anyone / anybody
everyone / everybody
please / kindly
need / require
want / would like
get / receive
got / received
buy / purchase
bought / purchased
start / begin
started / began
stop / quit
finish / end
leave / go away from
live / reside
work / job
meeting / appointment
holiday / vacation / trip
big / large
small / little
quick / fast
quickly / fast
old / elderly
new / recent
good / fine
bad / poor
about / around / roughly
because / since / as
but / although
also / as well
only / just
now / at the moment
today / this day
yesterday / the other day
often / frequently
always / every time
never / not once
test / exam / check
results / findings
school / class
teacher / tutor
shop / store
price / cost
train / bus
film / movie
book / novel
town / city
country / land
weather / forecast
score / result
team / side
game / match
""".strip()

WORDS: dict[str, tuple[str, ...]] = {}
for _line in _SETS.splitlines():
    _together = tuple(word.strip() for word in _line.split("/"))
    for _word in _together:
        WORDS[_word] = WORDS.get(_word, ()) + tuple(other for other in _together if other != _word)

_TOKEN = re.compile(r"[A-Za-z]+")
# Words that hold a sentence together: another one in their place changes who speaks, or of whom.
_KEPT = re.compile(
    r"an?|the|i|you|he|she|it|we|they|me|him|her|us|them|my|your|his|its|our|their|is|are|was|were|be|been|am|do|"
    r"does|did|has|have|had|will|would|can|could|may|might|must|shall|should|not|no|yes|and|or|if|of|to|in|on|at|"
    r"by|for|with|from|into|that|this|these|those|what|who|which|when|where|why|how|there|here|than|then|so",
    re.IGNORECASE,
)
_SHARE = 0.35
_NEAR = 6


def replace_words(sentence: str, draw: random.Random, vectors: "KeyedVectors | None" = None) -> str:
    """The sentence with some of its words replaced; small words, names and numbers stay."""

    def other(match: re.Match[str]) -> str:
        word = match.group()
        if _KEPT.fullmatch(word) or draw.random() > _SHARE:
            return word
        choices = WORDS.get(word.lower()) or _near(word, vectors)
        if not choices:
            return word
        chosen = draw.choice(choices)
        return chosen[0].upper() + chosen[1:] if word[0].isupper() else chosen

    return _TOKEN.sub(other, sentence)


def _near(word: str, vectors: "KeyedVectors | None") -> tuple[str, ...]:
    """The nearest words by their vectors; a capital inside a sentence may be a name, so it stays."""
    if vectors is None or not word.islower() or len(word) < 4 or word not in vectors.key_to_index:
        return ()
    found = vectors.most_similar(word, topn=_NEAR, restrict_vocab=20_000)
    return tuple(near for near, similarity in found if similarity > 0.6 and near.isalpha())
