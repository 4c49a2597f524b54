import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.errors import InputError
from core.store import Event, export
from core.store.clean import cell

EVENT = Event(
    id=1,
    session="s",
    panel="Predict",
    action="generate",
    started=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    duration_ms=12.5,
    cost=-0.25,
    outcome="ok",
    corpus="ward",
    text_hash=None,
    text_length=None,
    text=None,
)


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        "\n=1",
        " =1",
        "\uff1d1+1",
        "\u200b=1",
        "+",
        "-",
        "--5",
    ],
)
def test_what_a_spreadsheet_would_run_is_neutralised(text: str):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("value", ["-5", "+5", "-0.25", "1e-12", "-1E+3", -0.25, 7, None, "a=b", "", "'=1"])
def test_numbers_and_plain_words_stay_as_they_are(value: object):
    assert cell(value) == value


def test_csv_reads_back_and_numbers_stay_numeric():
    events = [EVENT, replace(EVENT, id=2, text='=HYPERLINK("x"),\n"quoted"', action="-1+1")]
    rows = list(csv.DictReader(io.StringIO("".join(export(events, "csv")), newline="")))
    assert [row["cost"] for row in rows] == ["-0.25", "-0.25"]
    assert rows[0]["started"] == "2026-01-02T03:04:05+00:00"
    assert rows[0]["text"] == ""
    assert rows[1]["text"] == '\'=HYPERLINK("x"),\n"quoted"'
    assert rows[1]["action"] == "'-1+1"


def test_jsonl_has_one_object_a_line():
    events = [EVENT, replace(EVENT, text="=two\nlines é")]
    lines = "".join(export(events, "jsonl")).splitlines()
    assert [json.loads(line)["text"] for line in lines] == [None, "=two\nlines é"]
    assert json.loads(lines[0])["cost"] == -0.25


def test_an_empty_log_still_has_its_heading():
    assert "".join(export([], "csv")).startswith("id,session,panel,action,started")
    assert list(export([], "jsonl")) == []


def test_an_export_reads_no_further_than_it_is_asked():
    taken = []

    def events():
        for number in range(1000):
            taken.append(number)
            yield replace(EVENT, id=number)

    for form in ("csv", "jsonl"):
        taken.clear()
        lines = export(events(), form)
        for _ in range(3):
            next(lines)
        assert len(taken) <= 3


def test_other_formats_are_refused():
    form: Any = "xlsx"
    with pytest.raises(InputError, match="csv or jsonl"):
        export([], form)
