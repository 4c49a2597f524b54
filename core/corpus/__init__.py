"""User-level corpora: reading files, reporting, splitting by user, the synthetic demo corpus and canaries."""

from core.corpus.canaries import Canary, CanaryFormat, plant
from core.corpus.demo import DEMO_KEY, DemoPrompt, build_demo, demo_prompts, demo_secrets, load_demo
from core.corpus.documents import NO_USER, Corpus, Document, Dropped
from core.corpus.limits import DEFAULT_LIMITS, Limits
from core.corpus.partition import Partition, PartSize, largest_k, new_key, partition_corpus
from core.corpus.read import ACCEPTED, read_corpus
from core.corpus.report import CorpusReport, report_corpus, report_sentences
from core.corpus.ward_secrets import DemoSecret

__all__ = [
    "ACCEPTED",
    "DEFAULT_LIMITS",
    "DEMO_KEY",
    "NO_USER",
    "Canary",
    "CanaryFormat",
    "Corpus",
    "CorpusReport",
    "DemoPrompt",
    "DemoSecret",
    "Document",
    "Dropped",
    "Limits",
    "PartSize",
    "Partition",
    "build_demo",
    "demo_prompts",
    "demo_secrets",
    "largest_k",
    "load_demo",
    "new_key",
    "partition_corpus",
    "plant",
    "read_corpus",
    "report_corpus",
    "report_sentences",
]
