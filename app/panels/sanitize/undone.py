"""What an attacker got back, as HTML."""

from app.components.marked import Mark, Stretch, legend_html, marked_html
from app.components.markup import notice
from app.components.phrases import number, percent, short
from core.attack.sanitised.reconstruction import Reconstruction, WordGuess
from core.sanitize import Piece, Sanitized

LEGEND = legend_html(
    {
        "back": "named, though it had been replaced",
        "same": "named; it had come back by chance",
        "missed": "guessed wrongly",
    }
)


def undone_html(result: Sanitized, attack: Reconstruction) -> str:
    """A verdict, and the text as the attacker would have it with what came back marked."""
    guesses = {word.piece: word for word in attack.words}
    marked: list[Stretch] = []
    for place, piece in enumerate(result.pieces):
        if place in guesses:
            marked.append(_guess(piece, guesses[place]))
        elif piece.state == "plain":
            marked.append(piece.output)
        else:
            marked.append(Mark(piece.output, "untried", f"not tried, was {short(piece.source)}"))
    return f"{verdict_html(attack)}{marked_html(marked, 'What the attacker makes of it')}{LEGEND}"


def _guess(piece: Piece, word: WordGuess) -> Mark:
    look = "missed" if not word.right else "back" if word.changed else "same"
    thoughts = ", ".join(f"{other} {percent(chance)}" for other, chance in word.others)
    said = f"published as {word.published}, was {short(piece.source)}; the attacker thinks of {thoughts}"
    return Mark(word.guess, look, said)


def verdict_html(attack: Reconstruction) -> str:
    """What an attacker who knows the mechanism could name, in two sentences."""
    tried = number(len(attack.words), "perturbed word")
    interval = f"95 % interval {percent(attack.low)} to {percent(attack.high)}"
    if attack.right:
        stayed = attack.right - attack.undone
        said = (
            f"The attacker named {attack.right} of {tried} ({percent(attack.rate)}, {interval}): "
            f"{attack.undone} that had been replaced and {stayed} that had come back by chance. "
            "A smaller epsilon gives less back."
        )
    else:
        said = f"The attacker named none of {tried} ({interval})."
    return notice(said if attack.complete else said + " Not all words were tried.", kind="done")
