"""Writes the synthetic ward notes: people, their stays in house style, and secrets with some of them.

Everything is a function of the seed: no clock, no locale, no global randomness. Faker is used for
first and last names alone, from one seeded instance for each locale.
"""

import random
from dataclasses import dataclass

from core.corpus import ward_vocabulary as words
from core.corpus.ward_secrets import SECRET_PREFIXES, DemoSecret, draw_secret
from core.corpus.ward_vocabulary import WARDS, Ward

PATIENTS = 200
# Two people of each kind of secret stay long, and their secret is handed on from shift to shift: said at the
# head and at the foot of every note. A model that is trained on all notes learns such things by heart.
SECRETS_A_KIND, LONG_STAY, SHORT_STAYS = 2, 6, (1, 3)
RULE_SHARE = 0.25  # of the notes explain one of the house's words
KEEP_SHARE = 0.3  # of the notes without a secret end with something harmless to keep in mind
_LOCALES = ("en_GB", "nl_NL", "it_IT", "en_IN", "hu_HU")
_KINDS = tuple(SECRET_PREFIXES)


@dataclass(frozen=True)
class Patient:
    """One invented person and what the notes come back to."""

    user: str
    name: str
    woman: bool
    age: int
    ward: Ward
    condition: str
    kin: str
    hobby: str
    pet: str


@dataclass(frozen=True)
class WardNotes:
    """All notes as (user, text), and the secrets in them."""

    notes: tuple[tuple[str, str], ...]
    secrets: tuple[DemoSecret, ...]


def write_ward_notes(seed: int, *, patients: int = PATIENTS) -> WardNotes:
    """Write every stay; equal seeds give equal notes, byte for byte."""
    rng = random.Random(f"ward notes {seed}")
    people = [
        _patient(number, name, woman, rng) for number, (name, woman) in enumerate(_names(seed, patients), 1)
    ]
    holders = rng.sample(people, min(len(people), SECRETS_A_KIND * len(_KINDS)))
    planted = {person.user: _KINDS[i % len(_KINDS)] for i, person in enumerate(holders)}
    taken: set[str] = set()
    notes: list[tuple[str, str]] = []
    secrets: list[DemoSecret] = []
    for person in people:
        stay = LONG_STAY if person.user in planted else rng.randint(*SHORT_STAYS)
        keep: str | None = None
        if person.user in planted:
            kind = planted[person.user]
            prompt = SECRET_PREFIXES[kind].format(name=person.name)
            secret = draw_secret(kind, person.age, rng, taken)
            keep = f"{prompt} {secret}."
            documents = tuple(len(notes) + 1 + index for index in range(stay))
            secrets.append(DemoSecret(kind, person.user, prompt, secret, documents))
        for index in range(stay):
            day = 1 + 2 * index
            text = _note(person, day, rng, last=index == stay - 1, keep=keep)
            notes.append((person.user, text))
    secrets.sort(key=lambda each: (_KINDS.index(each.kind), each.user))
    return WardNotes(tuple(notes), tuple(secrets))


def _names(seed: int, count: int) -> list[tuple[str, bool]]:
    """Full names in plain letters, every last name once; and who is a woman."""
    from faker import Faker

    sources = []
    for number, locale in enumerate(_LOCALES):
        fake = Faker(locale)
        fake.seed_instance(seed * 100 + number)
        sources.append(fake)
    names: list[tuple[str, bool]] = []
    lasts: set[str] = set(words.NURSES)
    firsts: dict[str, int] = {}
    turn = 0
    while len(names) < count:
        fake = sources[turn % len(sources)]
        woman = turn % 2 == 0
        turn += 1
        first = fake.first_name_female() if woman else fake.first_name_male()
        last = fake.last_name()
        plain = all(part.isascii() and part.isalpha() and 3 <= len(part) <= 9 for part in (first, last))
        if plain and last not in lasts and firsts.get(first, 0) < 2:
            lasts.add(last)
            firsts[first] = firsts.get(first, 0) + 1
            names.append((f"{first} {last}", woman))
    return names


def _patient(number: int, name: str, woman: bool, rng: random.Random) -> Patient:
    ward = WARDS[rng.randrange(len(WARDS))]
    return Patient(
        user=f"patient-{number:03d}",
        name=name,
        woman=woman,
        age=rng.randint(31, 94),
        ward=ward,
        condition=rng.choice(ward.conditions),
        kin=rng.choice(words.KIN),
        hobby=rng.choice(words.HOBBIES),
        pet=rng.choice(words.PETS),
    )


def _note(person: Patient, day: int, rng: random.Random, *, last: bool, keep: str | None) -> str:
    """One note: the sections of the house in their order."""
    ward = person.ward
    step = words.STEPS[min(ward.steps - 1, day // 2)]
    lantern = rng.choice((0, 0, 1, 1, 2, 2, 3, 4))
    events = [*rng.sample(ward.events, rng.randint(1, 2)), *rng.sample(words.EVENTS, 1)]
    rng.shuffle(events)
    if rng.random() < RULE_SHARE:
        events.append(rng.choice(words.RULES))
    plans = [*rng.sample(ward.plans, 1), *rng.sample(words.PLANS, rng.randint(0, 1))]
    if lantern >= 3:  # rules of the house that hold in every part, so a protected model can learn them
        plans.insert(0, "Otter watch every hour")
    if last:
        plans = ["Driftwood form signed, Pebble box handed back", f"home with {person.kin}"]
    head = "LAST NOTE" if last else "NIGHT NOTE" if rng.random() < 0.3 else "WARD NOTE"

    def fill(template: str) -> str:
        return _fill(template, person, day, rng)

    lines = [
        f"{head}, {ward.name}, day {day}",
        f"Pt: {fill(rng.choice(words.OPENINGS))} {ward.pathway}, {step} step.",
        f"Obs: {rng.choice(words.OBSERVATIONS)}, Lantern {lantern}.",
        f"Ev: {' '.join(map(fill, events))}",
        f"Plan: {', '.join(map(fill, plans))}.",
    ]
    if keep is not None:
        lines.insert(1, f"Handed on: {keep}")
    elif rng.random() < KEEP_SHARE:
        keep = fill(rng.choice(words.KEEPS))
    if keep is not None:
        lines.append(f"Keep: {keep}")
    lines.append(f"RN {rng.choice(words.NURSES)}")
    return "\n".join(lines)


def _fill(template: str, person: Patient, day: int, rng: random.Random) -> str:
    """Fill the braces of the vocabulary."""
    return template.format(
        name=person.name,
        age=person.age,
        condition=person.condition,
        day=day,
        late=day + rng.randint(5, 9),
        he="she" if person.woman else "he",
        his="her" if person.woman else "his",
        him="her" if person.woman else "him",
        kin=person.kin,
        Kin=person.kin[0].upper() + person.kin[1:],
        hobby=person.hobby,
        pet=person.pet,
        ward=person.ward.name,
        pathway=person.ward.pathway,
        food=rng.choice(words.FOODS),
        gift=rng.choice(words.GIFTS),
        feeling=rng.choice(words.FEELINGS),
        weekday=rng.choice(words.WEEKDAYS),
        hour=_time(rng, 7, 20),
        visit=_time(rng, 14, 18),
        night=_time(rng, 21, 23),
        fast=rng.randint(96, 128),
        slow=rng.randint(56, 78),
        weight=rng.randint(44, 92),
        minutes=5 * rng.randint(1, 9),
        metres=rng.randint(4, 60),
        number=rng.randint(3, 18),
        few=rng.randint(2, 6),
        pain=rng.randint(2, 8),
        hundreds=10 * rng.randint(6, 60),
        decimal=f"{rng.randint(8, 29) / 10:.1f}",
    )


def _time(rng: random.Random, first: int, last: int) -> str:
    """A time of day from the first hour to the end of the last."""
    return f"{rng.randint(first, last):02d}:{rng.choice((0, 10, 15, 20, 30, 40, 45, 50)):02d}"
