"""Filling the slots of a written line: `{first}` or `{d4}` becomes a drawn word or number."""

import random
import re
from collections.abc import Callable

_SLOT = re.compile(r"\{([a-z]+)(\d*)\}")

WORDS: dict[str, tuple[str, ...]] = {
    name: tuple(words.split(", "))
    for name, words in {
        "first": "Anna, Ben, Chidi, Dilek, Emma, Farid, Grace, Hiro, Ines, Jamal, Kasia, Lars, Mei, Nadia, "
        "Oscar, Priya, Quentin, Rosa, Sven, Tomas, Uma, Viktor, Wanda, Yusuf, Zoe, Liam, Fatima, Marco",
        "last": "Adeyemi, Baker, Costa, Dubois, Eriksen, Fischer, Garcia, Haddad, Ivanova, Jensen, Kaur, "
        "Lindgren, Moreau, Nowak, Okafor, Petrov, Quist, Rossi, Schmidt, Tanaka, Ueda, Vargas, Walsh, Yilmaz",
        "street": "Mill Lane, Harbour Street, Elm Road, Station Road, Kirchweg, Rue des Lilas, Via Roma, "
        "Church Close, Quay Street, Oak Avenue, Castle Hill, Garden Row, Birch Terrace, Market Street",
        "city": "Leeds, Utrecht, Porto, Graz, Lyon, Turku, Izmir, Lagos, Pune, Osaka, Denver, Halifax, "
        "Gdansk, Cork, Bergen, Malmo, Quito, Tampa, Basel, Antwerp",
        "country": "Norway, Peru, Kenya, Latvia, Greece, Canada, Vietnam, Morocco, Chile, Poland, Turkey",
        "company": "Northwind, Halvard, Brightmill, Ostro, Kestrel, Lumen Works, Tarn, Alder and Sons",
        "hospital": "St Agnes, the county hospital, Riverside, the university clinic, Holy Cross",
        "illness": "diabetes, epilepsy, breast cancer, schizophrenia, multiple sclerosis, leukaemia, lupus, "
        "Parkinson's disease, hepatitis C, bipolar disorder, heart failure, endometriosis, tuberculosis",
        "drug": "sertraline, insulin, lithium, methadone, warfarin, tramadol, metformin, quetiapine, "
        "prednisolone, levodopa, diazepam, olanzapine, lamotrigine",
        "word": "marigold, copper, lantern, walrus, pepper, comet, velvet, harbour, thistle, cactus, falcon, "
        "biscuit, meadow, orbit, pickle, tundra, saffron, pebble, willow, magnet",
        "month": "January, February, March, April, May, June, July, August, September, October, November, "
        "December",
        "day": "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday",
        "money": "£40, £380, £1,250, $75, $2,300, $48,000, $120,000, 60 euros, 900 euros, 3,400 euros, 52k, "
        "€15,000, 18,000 pounds, 250 dollars, £31,500, 1.2 million",
        "host": "posteo.net, mailbox.org, gmail.com, example.com, web.de, outlook.com",
    }.items()
}


def fill(line: str, draw: random.Random) -> str:
    """The line with every slot filled; a name that is no slot stays as it was written."""
    return _SLOT.sub(lambda match: _value(match.group(1), match.group(2), draw), line)


def slots(line: str) -> int:
    """How many slots a line has."""
    return len(_SLOT.findall(line))


def _value(name: str, count: str, draw: random.Random) -> str:
    if name == "d" and count:
        return _digits(draw, int(count))
    if name == "letters" and count:
        return _letters(draw, int(count))
    if name in _MADE:
        return _MADE[name](draw)
    return draw.choice(WORDS[name])


def _digits(draw: random.Random, count: int) -> str:
    first = draw.choice("123456789") if count < 5 else draw.choice("0123456789")
    return first + "".join(draw.choice("0123456789") for _ in range(count - 1))


def _letters(draw: random.Random, count: int) -> str:
    return "".join(draw.choice("ABCDEFGHJKLMNPRSTUVWXYZ") for _ in range(count))


def _phone(draw: random.Random) -> str:
    shape = draw.choice(
        ("07{d3} {d3} {d3}", "({d3}) 555-{d4}", "+49 17{d1} {d7}", "0{d3} {d6}", "{d3}-{d3}-{d4}")
    )
    return fill(shape, draw)


def _date(draw: random.Random) -> str:
    day, year = draw.randint(1, 28), draw.randint(1941, 2024)
    month = draw.choice(WORDS["month"])
    return draw.choice(
        (f"{day} {month} {year}", f"{month} {day}, {year}", f"{day:02}/{draw.randint(1, 12):02}/{year}")
    )


def _password(draw: random.Random) -> str:
    shapes = (
        "{word}{d2}!",
        "{word}_{year}",
        "{letters2}{d2}{word}#",
        "{word}-{word}-{d3}",
        "{first}{d4}",
        "x{hex}",
    )
    return fill(draw.choice(shapes), draw)


def _email(draw: random.Random) -> str:
    return fill(
        draw.choice(("{first}.{last}@{host}", "{first}{d2}@{host}", "{word}{d3}@{host}")), draw
    ).lower()


_MADE: dict[str, Callable[[random.Random], str]] = {
    "n": lambda draw: str(draw.randint(2, 89)),
    "letter": lambda draw: _letters(draw, 1),
    "name": lambda draw: f"{draw.choice(WORDS['first'])} {draw.choice(WORDS['last'])}",
    "ssn": lambda draw: f"{_digits(draw, 3)}-{_digits(draw, 2)}-{_digits(draw, 4)}",
    "card": lambda draw: " ".join(_digits(draw, 4) for _ in range(4)),
    "iban": lambda draw: (
        f"{draw.choice(('DE', 'GB', 'FR', 'NL'))}{_digits(draw, 2)} {_digits(draw, 9)} {_digits(draw, 8)}"
    ),
    "ip": lambda draw: ".".join(str(draw.randint(2, 250)) for _ in range(4)),
    "mac": lambda draw: ":".join(f"{draw.randint(0, 255):02x}" for _ in range(6)),
    "hex": lambda draw: f"{draw.getrandbits(draw.choice((48, 64, 80))):x}",
    "key": lambda draw: "-".join(_letters(draw, 3) + _digits(draw, 2) for _ in range(4)),
    "year": lambda draw: str(draw.randint(1890, 2024)),
    "time": lambda draw: draw.choice(
        (
            f"{draw.randint(6, 22)}:{draw.choice(('00', '15', '30', '45'))}",
            f"{draw.randint(1, 12)} {draw.choice(('am', 'pm'))}",
        )
    ),
    "phone": _phone,
    "date": _date,
    "pass": _password,
    "email": _email,
}
