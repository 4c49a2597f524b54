"""What a public language model expects next, as a prior over words rather than tokens.

A word is the tokens that spell it, and its end: log P(w | context) = sum_i log P(t_i | context, t_<i) +
log P(no letter or digit follows). Without the last term a number would always look likelier than the longer
numbers that begin with it. A word may stand as the vocabulary has it, with a capital, or in capitals.

Spellings are read in one pass, as a tree: those that begin alike share their first tokens, and each token
sees the context and the tokens above it alone.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.lm.public import PublicModel

Floats = NDArray[np.float64]

WINDOW = 256  # tokens of context at most; beyond it the newer half is kept
_ROOM = 64  # tokens of the model's own limit that are kept free for spellings
_SPACE = "\u2581"  # how sentence-piece tokenizers write a space, which they do not decode at a start


def spellings(word: str) -> tuple[str, ...]:
    """How a word may stand in a text."""
    return tuple(dict.fromkeys((word, word[:1].upper() + word[1:], word.upper())))


class TextSoFar:
    """A growing text read by the public model, which can be asked for the word that comes next."""

    def __init__(self, public: PublicModel) -> None:
        self._public = public
        self._window = min(WINDOW, public.context - _ROOM)
        self._pending = ""  # text that the model has not read yet
        self._tokens: list[int] = [_first_token(public)]
        self._read = 0
        self._cache: Any = None
        self._scores: Floats = np.zeros(0)

    def append(self, text: str) -> None:
        """The text goes on."""
        self._pending += text

    def likely(self, count: int) -> list[str]:
        """The likeliest next tokens that look like words, without the space before them, best first."""
        scores = self._next()
        best = np.argsort(-scores, kind="stable")[:count]
        texts = (str(self._public.tokenizer.decode([int(token)])) for token in best)
        return [word for text in texts if (word := text.strip())[:1].isalnum()]

    def bounds(self, forms: Sequence[str]) -> Floats:
        """log P of each spelling's first token, which is at least that of the whole word: (n,)."""
        return self._next()[[tokens[0] for tokens in self._spell(forms)]]

    def log_probabilities(self, forms: Sequence[str]) -> Floats:
        """log P of each spelling as the next whole word: (n,)."""
        import torch

        first, rows = self._next(), self._spell(forms)
        tree = _Tree(rows)
        past = self._cache.get_seq_length()
        hidden = torch.full((1, 1, len(tree.tokens), past + len(tree.tokens)), torch.finfo(torch.float32).min)
        hidden[..., :past] = 0.0
        hidden[0, 0, :, past:][torch.from_numpy(tree.above)] = 0.0
        with torch.inference_mode():
            logits = self._public.model(
                torch.tensor([tree.tokens]),
                attention_mask=hidden,
                position_ids=torch.tensor([tree.depths]) + past,
                past_key_values=self._cache,
                use_cache=True,
            ).logits[0]  # (nodes, V)
            self._cache.crop(-len(tree.tokens))
            scores = torch.log_softmax(logits.double(), dim=-1)
            ends = torch.from_numpy(_word_ends(self._public, scores.shape[-1]))
            end = scores[:, ends].logsumexp(dim=-1).numpy()
        after = scores.numpy()
        totals = [
            first[row[0]] + sum(after[nodes[step], row[step + 1]] for step in range(len(row) - 1))
            for row, nodes in zip(rows, tree.paths, strict=True)
        ]
        return np.array(totals) + end[[nodes[-1] for nodes in tree.paths]]

    def _next(self) -> Floats:
        """Next-token log-probabilities after the text: (V,). A last space is left to the word after it."""
        import torch

        text, self._pending = _before_last_space(self._pending)
        if text:
            self._tokens += self._public.tokenizer(
                text, add_special_tokens=False, split_special_tokens=True
            ).input_ids
        if len(self._tokens) > self._window:
            self._tokens = self._tokens[-(self._window // 2) :]
            self._cache, self._read = None, 0
        if self._read < len(self._tokens):
            with torch.inference_mode():
                output = self._public.model(
                    torch.tensor([self._tokens[self._read :]]),
                    past_key_values=self._cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                self._scores = torch.log_softmax(output.logits[0, -1].double(), dim=-1).numpy()
            self._cache, self._read = output.past_key_values, len(self._tokens)
        return self._scores

    def _spell(self, forms: Sequence[str]) -> list[list[int]]:
        asked = [self._pending + form for form in forms]
        return self._public.tokenizer(asked, add_special_tokens=False, split_special_tokens=True).input_ids


class _Tree:
    """Rows of tokens as a tree of nodes: `paths` has each row's nodes, `above` who sees whom."""

    def __init__(self, rows: Sequence[Sequence[int]]) -> None:
        known: dict[tuple[int, ...], int] = {}
        self.paths = [
            [known.setdefault(tuple(row[: step + 1]), len(known)) for step in range(len(row))] for row in rows
        ]
        self.tokens = [prefix[-1] for prefix in known]
        self.depths = [len(prefix) - 1 for prefix in known]
        self.above = np.zeros((len(known), len(known)), np.bool_)
        for path in self.paths:
            for step, node in enumerate(path):
                self.above[node, path[: step + 1]] = True


def _before_last_space(text: str) -> tuple[str, str]:
    return (text[:-1], " ") if text.endswith(" ") else (text, "")


def _first_token(public: PublicModel) -> int:
    """What stands before a text: the token that ends the one before."""
    token = public.tokenizer.eos_token_id
    return 0 if token is None else int(token)


@lru_cache(maxsize=2)
def _word_ends(public: PublicModel, size: int) -> NDArray[np.bool_]:
    """Which of `size` tokens may follow a finished word: all but those that begin with a letter or digit.

    Part of a character of several bytes counts as a letter.
    """
    known = range(min(size, len(public.tokenizer)))
    names = public.tokenizer.convert_ids_to_tokens(known)
    firsts = (text[:1] for text in public.tokenizer.batch_decode([[token] for token in known]))
    ends = np.ones(size, np.bool_)
    ends[: len(names)] = [
        name.startswith(_SPACE) or not (first.isalnum() or first == "\ufffd")
        for name, first in zip(names, firsts, strict=True)
    ]
    return ends
