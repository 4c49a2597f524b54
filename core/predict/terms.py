"""From an ensemble's manifest to the terms of its budget, and from terms to the protocol that they name."""

from dataclasses import asdict
from typing import Any

from core.errors import BudgetRefused, InputError, ModelUnavailable
from core.lm.manifest import Manifest
from core.predict import PROTOCOLS, FineTuned, Protocol, StrictSubMix
from core.store import Budget, Ledger, Terms


def budget_parts(parts: int, halves: bool, protocol: str) -> int:
    """How many remainders the ledger keeps: SubMix reads halves in pairs, the others each by itself."""
    in_pairs = _kind(protocol).shape == "halves"
    if in_pairs and not halves:
        raise InputError("SubMix compares two halves of each part: train with halves.")
    return parts * (2 if halves and not in_pairs else 1)


def planned_terms(manifest: Manifest, **changes: Any) -> Terms:
    """What the corpus' budget is opened with, by its manifest; `changes` are what a demonstration may ask."""
    wanted = {**manifest.budget, **{name: value for name, value in changes.items() if value is not None}}
    try:
        k, halves, protocol = manifest.partition["k"], manifest.partition["halves"], wanted["protocol"]
        parts = budget_parts(int(k), bool(halves), str(protocol))
        return Terms(parts=parts, synthetic=manifest.synthetic, **wanted)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelUnavailable("The manifest of this ensemble names no budget that can be opened.") from error


def protocol_under(terms: Terms | Budget) -> Protocol:
    """A fresh protocol with the terms of a budget; all of them are in the ledger's opening entry."""
    kind = _kind(terms.protocol)
    if kind is FineTuned:
        raise InputError("The whole-corpus adapter has a stream of its own; choose a protocol over parts.")
    extra: dict[str, object] = {}
    if kind is StrictSubMix:
        extra = {"w_max": terms.w_max, "allowance": terms.allowance}
    elif not kind.protected:
        extra = {"synthetic": terms.synthetic}
    return kind(terms.parts, terms.epsilon, terms.alpha, terms.queries, **extra)  # type: ignore[arg-type]


def quoted(state: Terms | Budget, tokens: int) -> float:
    """The most that any part can pay for so many more tokens: from the terms and the public count alone."""
    used, stopped = (state.used, state.stopped) if isinstance(state, Budget) else (0, False)
    if stopped or used >= state.queries:
        return 0.0
    protocol = protocol_under(state)
    protocol.restore([state.epsilon] * state.parts, used)
    return protocol.quote(tokens)


def start_over(ledger: Ledger, corpus: str, manifest: Manifest, **changes: Any) -> Budget:
    """A fresh budget with these terms, for a demonstration on a synthetic corpus; refused on any other."""
    if not manifest.synthetic:
        raise BudgetRefused(
            f"The budget of '{corpus}' cannot be started over: the corpus is private, "
            "and what was released about it stays released."
        )
    terms = planned_terms(manifest, **changes)
    protocol_under(terms)  # what a protocol refuses must not get into the ledger
    wanted = asdict(terms)
    if ledger.budget(corpus) is None:
        return ledger.open_budget(corpus, **wanted)
    del wanted["synthetic"]
    return ledger.restart(corpus, **wanted)


def has_terms(protocol: Protocol, terms: Terms | Budget) -> bool:
    """Whether the protocol is the one that these terms name, with the same numbers."""
    if type(protocol) is not PROTOCOLS.get(terms.protocol):
        return False
    own = (protocol.parts, protocol.epsilon, protocol.alpha, protocol.queries)
    if own != (terms.parts, terms.epsilon, terms.alpha, terms.queries):
        return False
    if isinstance(protocol, StrictSubMix):
        return (protocol.w_max, protocol.allowance) == (terms.w_max, terms.allowance)
    return True


def _kind(protocol: str) -> type[Protocol]:
    if protocol not in PROTOCOLS:
        raise InputError(f"The protocol is one of {', '.join(PROTOCOLS)} (it is {protocol!r}).")
    return PROTOCOLS[protocol]
