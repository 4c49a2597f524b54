"""A file of 100 MB passes through less than 400 MB of memory."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, re, sys
from pathlib import Path
from core.sanitize import Digits, load_vocabulary, make_mechanism, sanitize_file
from core.settings import EMBEDDED, Settings

mechanism = make_mechanism("euclidean", load_vocabulary(EMBEDDED, Settings(_env_file=None)), 12.0)
report = sanitize_file(sys.argv[1], sys.argv[2], mechanism, Digits())
# not ru_maxrss, which a child begins with the size of the process that started it
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({"peak": peak, "words": report.words, "perturbed": report.perturbed}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["txt", "csv"])
def test_a_large_file_needs_little_memory(tmp_path, kind):
    rows = 1_170_000
    path, output = tmp_path / f"large.{kind}", tmp_path / f"out.{kind}"
    with path.open("w") as file:
        file.write("text\n" if kind == "csv" else "notes\n")
        for at in range(rows):
            number = f"{at + 10**9}" if at % 100 else "2010"  # most lie outside the vocabulary
            file.write(
                f"Note {number} says that the patient slept well and had tea and soup in the evening.\n"
            )
    assert path.stat().st_size >= 100_000_000
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path), str(output)], capture_output=True, text=True, check=True
    )
    seen = json.loads(done.stdout)
    assert seen["perturbed"] == rows
    assert seen["peak"] < 400
    assert abs(output.stat().st_size - path.stat().st_size) < 0.1 * path.stat().st_size
