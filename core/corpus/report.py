"""What a corpus holds, for its curator: sizes, repetitions and what was left out, in figures and in words."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from core.corpus.documents import Corpus, Document, Dropped
from core.corpus.duplicates import Groups, exact_duplicates, near_duplicates
from core.corpus.limits import shown
from core.corpus.partition import Partition, PartSize
from core.errors import InputError

CountTokens = Callable[[str], int]
COMPARED = 100_000  # documents that are compared for near-duplicates; about ten seconds' work
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Size:
    """A user, how many documents are theirs, and how long these are together."""

    user: str
    documents: int
    tokens: int


@dataclass(frozen=True)
class Repetition:
    """Documents that repeat one another over users; `part_groups` is None without a partition."""

    groups: int
    documents: int
    part_groups: int | None
    example: tuple[Document, ...]


@dataclass(frozen=True)
class CorpusReport:
    """The figures of one corpus. `unit` says what `tokens` counts: "tokens" or "words"."""

    name: str
    synthetic: bool
    users: int
    documents: int
    characters: int
    tokens: int
    unit: str
    longest: Document
    longest_tokens: int
    smallest_user: Size
    largest_user: Size
    exact: Repetition
    near: Repetition
    compared: int
    similar_ids: tuple[tuple[str, ...], ...]
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]
    parts: tuple[PartSize, ...]


def report_corpus(
    corpus: Corpus,
    *,
    count_tokens: CountTokens | None = None,
    partition: Partition | None = None,
    compared: int = COMPARED,
) -> CorpusReport:
    """Count and compare all documents. Near-duplicates are sought among the first `compared` of them."""
    if not corpus.documents:
        raise InputError(f"{corpus.name} holds no documents.")
    if partition is not None and partition.corpus is not corpus:
        raise InputError("The partition belongs to another corpus.")
    counted = [(count_tokens or _count_words)(document.text) for document in corpus.documents]
    longest = max(range(len(counted)), key=counted.__getitem__)
    documents_of: Counter[str] = Counter(document.user for document in corpus.documents)
    tokens_of: Counter[str] = Counter()
    for document, tokens in zip(corpus.documents, counted, strict=True):
        tokens_of[document.user] += tokens
    sizes = [Size(user, documents_of[user], tokens_of[user]) for user in corpus.users]
    texts = [document.text for document in corpus.documents]
    return CorpusReport(
        name=corpus.name,
        synthetic=corpus.synthetic,
        users=len(sizes),
        documents=len(texts),
        characters=corpus.characters,
        tokens=sum(counted),
        unit="tokens" if count_tokens else "words",
        longest=corpus.documents[longest],
        longest_tokens=counted[longest],
        smallest_user=min(sizes, key=lambda size: size.tokens),
        largest_user=max(sizes, key=lambda size: size.tokens),
        exact=_repetition(corpus, exact_duplicates(texts), partition),
        near=_repetition(corpus, near_duplicates(texts[:compared]), partition),
        compared=min(compared, len(texts)),
        similar_ids=_similar_ids(corpus.users),
        dropped=corpus.dropped,
        notes=corpus.notes,
        parts=partition.sizes if partition is not None else (),
    )


def report_sentences(report: CorpusReport) -> list[str]:
    """The report as sentences, the most important first."""
    kind = "synthetic" if report.synthetic else "private"
    said = [
        f"{report.name} ({kind}): {_count(report.documents, 'document')} of {_count(report.users, 'user')}, "
        f"{report.tokens:,} {report.unit}, {report.characters:,} characters.",
        *report.notes,
        f"The longest document has {report.longest_tokens:,} {report.unit} ({_place(report.longest)}).",
    ]
    if report.users > 1:
        small, large = report.smallest_user, report.largest_user
        share = large.tokens / max(report.tokens, 1)
        said.append(
            f"The smallest user is {shown(small.user)} ({small.tokens:,} {report.unit}), "
            f"the largest {shown(large.user)} ({large.tokens:,}, {share:.0%} of all)."
        )
    said += _repetition_sentences(report)
    said += [
        f"These user ids differ only in case or punctuation and count as different users: "
        f"{', '.join(map(shown, ids[:4]))}."
        for ids in report.similar_ids[:5]
    ]
    said += [_dropped_sentence(dropped) for dropped in report.dropped]
    said += _balance_sentences(report)
    return said


def _repetition(corpus: Corpus, found: Groups, partition: Partition | None) -> Repetition:
    """Keep the groups that more than one user shares, and count those that lie in more than one part."""
    documents = corpus.documents
    shared = found.spanning(lambda index: documents[index].user)
    crossing = None
    if partition is not None:
        part_of = {user: partition.part_of(user) for user in corpus.users}
        crossing = len(shared.spanning(lambda index: part_of[documents[index].user]).groups)
    largest = max(shared.groups, key=len, default=())
    return Repetition(
        len(shared.groups), shared.documents, crossing, tuple(documents[index] for index in largest[:3])
    )


def _similar_ids(users: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Ids that are the same but for case and punctuation: perhaps one person in two places."""
    alike: dict[str, list[str]] = {}
    for user in users:
        alike.setdefault(re.sub(r"[\W_]+", "", user.casefold()) or user, []).append(user)
    return tuple(tuple(ids) for ids in alike.values() if len(ids) > 1)


def _repetition_sentences(report: CorpusReport) -> list[str]:
    exact, near = report.exact, report.near
    if not exact.groups and not near.groups:
        said = ["No document repeats, exactly or nearly, over users."]
    else:
        said = [
            f"Over users, {_count(exact.documents, 'document')} in {_count(exact.groups, 'group')} "
            f"repeat exactly, and {_count(near.documents, 'document')} in {_count(near.groups, 'group')} "
            "nearly or exactly."
        ]
    crossing = max(exact.part_groups or 0, near.part_groups or 0)
    if crossing:
        said.append(
            f"{_count(crossing, 'group')} of them lie in more than one part: a secret in two parts becomes "
            "consensus, and the guarantee of one part does not cover it."
        )
    if near.example:
        said.append(
            f"For example {' and '.join(_place(document) for document in near.example[:2])} are alike."
        )
    if report.compared < report.documents:
        said.append(f"Near-duplicates were sought among the first {report.compared:,} documents.")
    return said


def _dropped_sentence(dropped: Dropped) -> str:
    more = ", ..." if dropped.count > len(dropped.places) else ""
    return f"Dropped {dropped.count:,}: {dropped.reason} ({', '.join(dropped.places)}{more})."


def _balance_sentences(report: CorpusReport) -> list[str]:
    if not report.parts:
        return []
    users = sorted(size.users for size in report.parts)
    shares = sorted(size.characters for size in report.parts)
    place = "halves of parts" if report.parts[0].half is not None else "parts"
    ratio = shares[-1] / max(shares[0], 1)
    return [
        f"{len(report.parts)} {place}: {users[0]} to {users[-1]} users in each; "
        f"the largest has {ratio:.1f} times the text of the smallest."
    ]


def _place(document: Document) -> str:
    return f"{shown(document.source)} row {document.row}, user {shown(document.user)}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _count_words(text: str) -> int:
    return len(_WORD.findall(text))
