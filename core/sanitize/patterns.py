"""The policy of Presidio's recognisers: e-mail, card, phone and other numbers by their format, and names.

The recognisers run without Presidio's engine, which cuts and tags the text for them first and only
changes scores, not places: here every place that any recogniser finds is sensitive. What they find is
one thing each (a `whole` span), so that a card number is not perturbed group by group. Named entities are
added when a spaCy model is installed; nothing is ever downloaded.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

from core.sanitize.segments import segments
from core.sanitize.spans import Span

if TYPE_CHECKING:
    from presidio_analyzer import EntityRecognizer, Pattern, PatternRecognizer

SEGMENT = 20_000  # characters read at once: the phone recogniser gives up after 65,535 tries on one text
OVERLAP = 256  # characters before a segment that are read again, so that nothing is missed at a cut
LONGEST_RUN = 1_000  # characters without a space; the expressions take minutes on longer ones
_SECONDS = 5.0  # for one expression on one segment
_LONG_RUN = re.compile(rf"\S{{{LONGEST_RUN + 1},}}")
_MODELS = ("en_core_web_lg", "en_core_web_trf", "en_core_web_md", "en_core_web_sm")

Finder = Callable[[str], list[Span]]


@dataclass(frozen=True)
class Patterns:
    """What Presidio's recognisers find, at any confidence.

    `model` is the spaCy model for names: the first English one that is installed when empty.
    A run of over 1,000 characters without a space is sensitive as it is, and so is every word of a
    segment on which an expression runs out of time: what could not be read is not passed through.
    """

    model: str = ""
    name: ClassVar[str] = "patterns"

    def spans(self, text: str) -> list[Span]:
        """Every place that a recogniser finds."""
        found = [Span(run.start(), run.end(), "long run", whole=True) for run in _LONG_RUN.finditer(text)]
        readable = _LONG_RUN.sub(lambda run: " " * len(run.group()), text) if found else text
        finders = _finders(self.model or installed_model())
        for start, end in segments(readable, SEGMENT):
            low = max(0, start - OVERLAP)
            for finder in finders:
                for span in _found(finder, readable[low:end]):
                    found.append(Span(low + span.start, low + span.end, span.reason, span.whole))
        return found


def installed_model() -> str:
    """The best English spaCy model that is installed, or nothing."""
    from importlib.util import find_spec

    return next((model for model in _MODELS if find_spec(model) is not None), "")


def _found(finder: Finder, text: str) -> list[Span]:
    try:
        return finder(text)
    except TimeoutError:
        return [Span(0, len(text), "not readable in time")]


@lru_cache(maxsize=2)
def _finders(model: str) -> tuple[Finder, ...]:
    finders = [_finder(recogniser) for recogniser in recognisers()]
    return (*finders, _names(model)) if model else tuple(finders)


@lru_cache(maxsize=1)
def recognisers() -> tuple["EntityRecognizer", ...]:
    """Presidio's English recognisers, none of which asks the network."""
    import logging

    import tldextract
    from presidio_analyzer.predefined_recognizers import EmailRecognizer
    from presidio_analyzer.recognizer_registry import RecognizerRegistryProvider

    # the suffixes that the package carries; by default it would fetch a list at the first address
    extract = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)

    class OfflineEmail(EmailRecognizer):
        def validate_result(self, pattern_text: str) -> bool:
            return bool(extract(pattern_text).fqdn)

    # it warns of every recogniser of another language
    logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
    configuration = {"supported_languages": ["en"]}
    registry = RecognizerRegistryProvider(registry_configuration=configuration).create_recognizer_registry()
    return tuple(
        OfflineEmail() if isinstance(each, EmailRecognizer) else each for each in registry.recognizers
    )


def _finder(recogniser: "EntityRecognizer") -> Finder:
    """A function from text to the recogniser's spans; where it has its own way of reading, that is used."""
    from presidio_analyzer import PatternRecognizer

    if isinstance(recogniser, PatternRecognizer) and type(recogniser).analyze is PatternRecognizer.analyze:
        return lambda text: list(_pattern_spans(recogniser, text))

    def analyze(text: str) -> list[Span]:
        results = recogniser.analyze(text, recogniser.supported_entities, None)
        return [Span(found.start, found.end, _spoken(found.entity_type), whole=True) for found in results]

    return analyze


def _pattern_spans(recogniser: "PatternRecognizer", text: str) -> Iterator[Span]:
    """As `PatternRecognizer.analyze`, but an expression that runs out of time raises: it found nothing."""
    import regex  # type: ignore[import-untyped]

    reason = _spoken(recogniser.supported_entities[0])
    patterns: list[Pattern] = recogniser.patterns
    for pattern in patterns:
        expression = regex.compile(pattern.regex, flags=recogniser.global_regex_flags)
        for match in expression.finditer(text, timeout=_SECONDS):
            if not (piece := match.group()):
                continue
            valid = recogniser.validate_result(piece)
            likely = pattern.score > 0 if valid is None else valid
            if likely and not recogniser.invalidate_result(piece):
                yield Span(match.start(), match.end(), reason, whole=True)


def _names(model: str) -> Finder:
    """People, places, organisations and dates by a spaCy model, each word of them by itself."""
    import spacy
    from presidio_analyzer.nlp_engine import SpacyNlpEngine
    from presidio_analyzer.predefined_recognizers import SpacyRecognizer

    engine = SpacyNlpEngine(models=[{"lang_code": "en", "model_name": model}])
    engine.nlp = {"en": spacy.load(model)}  # `load` would download a missing model
    recogniser = SpacyRecognizer()

    def names(text: str) -> list[Span]:
        results = recogniser.analyze(text, recogniser.supported_entities, engine.process_text(text, "en"))
        return [Span(found.start, found.end, _spoken(found.entity_type)) for found in results]

    return names


def _spoken(entity: str) -> str:
    """EMAIL_ADDRESS as people say it."""
    return entity.replace("_", " ").lower()
