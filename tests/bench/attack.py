"""The exact rank of a memorised six-digit code: best-first search against reading all 10^6 candidates.

Model tokens are counted, not estimated: the search counts what it read, and reading every candidate takes one
token for every node of the trie when what candidates share is read once, which is the best that enumeration
can do. Its time is extrapolated from a slice of the trie that is read. Then the default run of the Attack
panel on the shipped ensemble, end to end. Run with `python -m tests.bench.attack`.
"""

import argparse
import tempfile
from itertools import islice
from pathlib import Path
from time import perf_counter, process_time

from core.attack.asked import Asked
from core.attack.attackers import WithLikelihoods
from core.attack.conduct import conduct
from core.attack.experiments.trained import Split, encode, memorise, quick_training
from core.attack.preparing import prepare
from core.attack.ranking.listing import enumerate_all
from core.attack.ranking.search import best_first
from core.attack.ranking.spelling import spell
from core.attack.targets import WHOLE, target_of
from core.corpus.canaries import CanaryFormat
from core.lm.finetune import AdapterData
from core.lm.public import PublicModel
from core.settings import Settings
from tests.bench.ensembles import embedded_model
from tests.bench.timing import report

FORM = CanaryFormat("The code for the red locker is {digits:6}")
CODE = 482913
SLICE = 2_000  # candidates whose enumeration is timed


def rank(public: PublicModel, passes: int) -> tuple[dict[str, float], dict[str, float], dict[str, object]]:
    """Seconds, ratios and counts of the search against the enumeration."""
    canary = FORM.fill(CODE)
    data = [AdapterData(name, encode(public, [canary.text] * 4)) for name in (WHOLE, "part-01")]
    subject = memorise(
        "bench", public, data, Split(parts=2), quick_training(passes=passes, length=24), synthetic=True
    )
    spelling = spell(public.tokenizer, FORM)
    attacker = WithLikelihoods(subject, target_of(subject.manifest, WHOLE))
    begun = perf_counter()
    found = best_first(attacker.reader(), spelling, spelling.tokens(CODE), most_read=10_000)
    searched = perf_counter() - begun
    reader = attacker.reader()
    before, begun = reader.read, perf_counter()
    for _ in islice(enumerate_all(reader, spelling), SLICE):
        pass
    read, taken = reader.read - before, perf_counter() - begun
    everything = len(spelling.prompt) + spelling.nodes - 1
    seconds = {"best-first": searched, "enumeration, extrapolated": taken / read * everything}
    ratios = {
        "tokens_enumeration_vs_best_first": everything / found.read,
        "time_enumeration_vs_best_first": seconds["enumeration, extrapolated"] / searched,
    }
    counts = {
        "rank": [found.low, found.high],
        "chance_of_the_code": round(2.718281828**found.log_likelihood, 4),
        "tokens_best_first": found.read,
        "tokens_enumeration": everything,
        "tokens_unshared": FORM.candidates * (len(spelling.tokens(CODE)) + len(spelling.prompt)),
    }
    return seconds, ratios, counts


def default_run(public: PublicModel) -> dict[str, object]:
    """The default run of the panel: loading the ensemble, the estimate, every step, storing."""
    begun, cpu = perf_counter(), process_time()
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(_env_file=None, data_dir=Path(folder))
        prepared = prepare(Asked(), settings, lambda: public)
        run = conduct(settings, prepared)
    for sentence in run.outcome.verdict:
        print(f"  {sentence}")
    return {
        "estimated_s": round(prepared.seconds, 1),
        "default_run_s": round(perf_counter() - begun, 1),
        "default_run_cpu_s": round(process_time() - cpu, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=12, help="over the code, until it is memorised")
    parser.add_argument("--no-default-run", action="store_true", help="measure the search alone")
    arguments = parser.parse_args()
    public = embedded_model()
    seconds, ratios, counts = rank(public, arguments.passes)
    run = {} if arguments.no_default_run else default_run(public)
    report("attack", seconds, ratios, **counts, **run)


if __name__ == "__main__":
    main()
