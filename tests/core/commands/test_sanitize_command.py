"""`python -m core sanitize` and `calibrate`, from the shell."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from core.__main__ import app
from core.errors import StudioError
from tests.core.sanitize.worlds import small_vocabulary


@pytest.fixture
def vectors(tmp_path):
    """A small file of vectors, so that no command loads the embedded ones."""
    vocabulary = small_vocabulary()
    rows = (
        f"{word} {' '.join(map(str, row))}"
        for word, row in zip(vocabulary.words, vocabulary.vectors, strict=True)
    )
    path = tmp_path / "vectors.txt"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def shell(tmp_path, vectors, monkeypatch):
    """Runs a command on a note; gives its code, its output and what it wrote."""
    monkeypatch.setenv("SUBMIX_VECTORS", str(vectors))
    note = tmp_path / "note.txt"
    note.write_text("My ID is 145572. The nurse wrote tea.\n")

    def run(*arguments, file=note, output="out.txt"):
        command = ["sanitize", str(file), "--output", str(tmp_path / output), *map(str, arguments)]
        result = CliRunner().invoke(app, command)
        written = tmp_path / output
        return result, written.read_text() if written.is_file() else None

    return run


def test_smdp_with_digits_perturbs_the_number_and_says_what_holds(shell):
    result, written = shell("--mechanism", "smdp", "--policy", "digits", "--epsilon", 12)
    assert result.exit_code == 0
    assert written.startswith("My ID is ")
    assert written.endswith(". The nurse wrote tea.\n")
    assert "145572" not in written
    assert "Perturbed: 1 of 8 words, epsilon 12 each." in result.output
    assert "uniform draws (numbers by numbers): 1." in result.output
    assert "exp(12 d(w, w'))" in result.output
    assert "does not hide which words" in result.output


@pytest.mark.parametrize("noise", ["euclidean", "mahalanobis", "tem"])
def test_mdp_perturbs_every_word_with_any_noise(shell, noise):
    result, _ = shell("--mechanism", "mdp", "--noise", noise, "--epsilon", 1)
    assert result.exit_code == 0
    assert "Perturbed: 8 of 8 words" in result.output


def test_own_words_come_from_a_file(shell, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("nurse\n/1455\\d+/\n\n")
    result, written = shell("--own-words", own, "--epsilon", 0.01, "--consistent")
    assert result.exit_code == 0
    assert "Perturbed: 2 of 8 words" in result.output
    assert written.endswith(" wrote tea.\n")
    assert "share one draw (2 in all)" in result.output


def test_a_column_is_named_and_a_bad_row_ends_with_code_one(shell, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("id,words\n1,tea 998877\n2,too,many\n")
    result, written = shell("--column", "words", file=rows, output="out.csv")
    assert result.exit_code == 1
    assert "Not sanitised: row 3: it has 3 fields and the header 2." in result.output
    assert "998877" not in written
    assert len(written.splitlines()) == 3
    again, _ = shell("--field", "words", file=rows, output="again.csv")
    assert again.exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--epsilon", "0"], "greater than 0"),
        (["--epsilon=-2"], "greater than 0"),
        (["--epsilon", "nan"], "must be a number"),
        (["--epsilon", "1e308"], "changes no word"),
        (["--mechanism", "dp"], "no mechanism called 'dp'"),
        (["--mechanism", "mdp", "--policy", "digits"], "takes no policy"),
        (["--policy", "colours"], "no policy called 'colours'"),
        (["--policy", "own"], "needs words"),
        (["--noise", "gaussian"], "no noise called 'gaussian'"),
        (["--own-words", "/no/such/list"], "cannot be read"),
        (["--vectors", "/no/such/vectors"], "no word vectors at"),
        (["--column", "text"], "has no columns"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_nothing_is_written(shell, arguments, sentence):
    result, written = shell(*arguments)
    assert result.exit_code == 1
    assert isinstance(result.exception, StudioError)
    assert sentence in str(result.exception)
    assert written is None


def test_an_error_is_one_line_on_standard_error(tmp_path):
    command = [
        sys.executable,
        "-m",
        "core",
        "sanitize",
        str(tmp_path / "no.txt"),
        "--output",
        "x",
        "--epsilon",
        "0",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
    assert done.returncode == 1
    assert done.stderr.strip() == "Error: Epsilon must be greater than 0."


def test_calibrate_says_what_an_epsilon_means_and_finds_one(vectors):
    run = CliRunner().invoke
    there = run(
        app, ["calibrate", "--epsilon", "5", "--vectors", str(vectors), "--words", "tea, 12", "--draws", "50"]
    )
    assert there.exit_code == 0
    assert "At epsilon 5 a word stays itself with chance" in there.output
    assert "  tea: stays" in there.output
    back = run(app, ["calibrate", "--deniability", "0.9", "--vectors", str(vectors)])
    assert back.exit_code == 0
    assert "becomes another one with chance 90%" in back.output
    none = run(app, ["calibrate", "--deniability", "2", "--vectors", str(vectors)])
    assert "between 0 and 1" in str(none.exception)


def test_the_sanitizer_needs_no_heavy_library_to_start():
    code = (
        "import sys, core.commands.sanitize, core.sanitize; "
        "print([name for name in ('torch', 'scipy', 'gensim', 'faiss', 'presidio_analyzer', 'pandas') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
