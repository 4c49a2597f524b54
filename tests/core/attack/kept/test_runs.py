"""Runs: conducted one at a time, stored whatever happens, read back as they were, shown safely."""

import json
import re
import stat
import threading
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from core.attack.conduct import AttackRunning, Cancel, Prepared, Step, conduct, one_at_a_time
from core.attack.experiments.protocols import prepare_audit
from core.attack.experiments.verdicts import percent, reads
from core.attack.intervals import share
from core.attack.kept.pictures import draw
from core.attack.kept.report import in_words, report_html, report_json
from core.attack.kept.runs import BarData, Finding, LineData, Outcome, Picture, Run
from core.attack.kept.storage import delete_run, list_runs, load_run, save_run
from core.attack.targets import Target, TargetGone
from core.attack.watch import Watch
from core.errors import InputError

NASTY = '<script>alert(1)</script> ${x} {{7*7}} & "q"'


def a_run(**changes):
    line = LineData(NASTY, ((0.0, 1.0), (2.0, 3.0)), band=((0.0, 2.0), (2.0, 4.0)))
    outcome = Outcome(
        findings=(Finding("extraction", NASTY, "secrets that came", 0.5, 0.2, 0.8, "share", 5, 10, NASTY),),
        pictures=(
            Picture(NASTY, "share", (BarData(NASTY, 0.5, 0.2, 0.8), BarData("b", 0.1, group="g")), 1.0),
            Picture("lines", lines=(line,), x="x", y="y", x_log=False, y_limits=(0.0, 4.0)),
        ),
        verdict=(NASTY,),
        notes=(NASTY,),
    )  # fmt: skip
    run = Run("", "secrets", NASTY, True, "2026-01-01T00:00:00+00:00", 1.5, 7, {"a": NASTY}, outcome)
    return replace(run, **changes)


def finding(name="a"):
    return Finding("extraction", name, "share", 0.5)


def prepared(*finds, seconds=1.0):
    found = []

    def conclude():
        return Outcome(verdict=(f"{len(found)} found",))

    def noting(find):
        def step(watch):
            found.extend(find(watch))
            return found[-1:]

        return step

    return Prepared("test", "notes", True, 3, tuple(Step(seconds, noting(f)) for f in finds), conclude)


def test_a_run_comes_back_from_disk_as_it_was(settings):
    run = save_run(settings, a_run())
    assert load_run(settings, run.id) == run
    path = settings.data_dir / "attacks" / f"{run.id}.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert len(run.id) == 22
    assert save_run(settings, a_run()).id != run.id


def test_runs_are_listed_newest_first_and_deleted(settings):
    old = save_run(settings, a_run(created="2025-01-01T00:00:00+00:00"))
    new = save_run(settings, a_run())
    (settings.data_dir / "attacks" / ("x" * 22 + ".json")).write_text("{broken")
    assert [run.id for run in list_runs(settings)] == [new.id, old.id]
    delete_run(settings, new.id)
    assert [run.id for run in list_runs(settings)] == [old.id]
    with pytest.raises(InputError, match="may have been deleted"):
        load_run(settings, new.id)
    with pytest.raises(InputError, match="damaged"):
        load_run(settings, "x" * 22)


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b", "x" * 21 + "/", "." * 22, "é" * 22])
def test_a_name_that_is_no_run_reads_nothing(settings, name):
    for use in (load_run, delete_run):
        with pytest.raises(InputError, match="not the name"):
            use(settings, name)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [
            value for name, value in attrs if name in ("src", "href", "data", "action", "xlink:href")
        ]


def test_the_report_is_one_file_that_asks_for_nothing_and_shows_any_words_as_words():
    text = report_html(a_run(problem=NASTY, status="stopped"))
    seen = Tags()
    seen.feed(text)
    assert not seen.links
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & set(seen.tags)
    assert "url(" not in text
    assert "@import" not in text
    assert re.findall(r"https?://[^\"' ]+", text) in ([], ["http://www.w3.org/2000/svg"] * 2)
    assert "default-src 'none'" in text
    assert "<script>" not in text
    assert seen.tags.count("svg") == 2
    assert "5 of 10" in text
    assert "20.0 to 80.0 %" in text


@pytest.mark.parametrize(
    ("finding", "words"),
    [
        (Finding("a", "b", "c", 0.6, 0.259, 0.878, "share", 6, 10), ("6 of 10", "25.9 to 87.8 %")),
        (Finding("a", "b", "c", 0.6, 0.259, 0.878, "share"), ("60.0 %", "25.9 to 87.8 %")),
        (Finding("a", "b", "c", 2.4567, 0.98765, 10.5, "bits"), ("2.5 bits", "1.0 to 10.5 bits")),
        (Finding("a", "b", "c", 0.000225), ("0.00", "")),
        (Finding("a", "b", "c", 0.5, 0.5, 0.5), ("0.50", "exact")),
    ],
)
def test_numbers_are_written_with_their_unit_and_no_false_precision(finding, words):
    assert in_words(finding) == words


def test_a_picture_says_its_values_and_intervals_to_who_cannot_see_it():
    bars = (BarData("no protection", 0.6, 0.259, 0.878), BarData("public model", 0.0, 0.0, 0.26))
    drawn = draw(Picture("Secrets", "share of secrets", bars, 1.0))
    assert "no protection: 60 % (interval 26 % to 88 %); public model: 0 % (interval 0 % to 26 %)" in drawn
    assert ">60 %</text>" in drawn
    bits = draw(Picture("Exposure", "bits, on average", (BarData("not memorised", 1.4427),)))
    assert ">1.4</text>" in bits


def test_a_long_name_gets_a_line_of_its_own():
    name = "a model trained on SMDP text at word epsilon 12"
    drawn = draw(Picture("Exposure", "bits", (BarData(name, 1.0), BarData("no protection", 9.0))))
    assert 'x="12.0"' in drawn.split(f">{name}<")[0].rsplit("<text", 1)[1]


def test_the_json_report_is_the_run():
    run = a_run(id="r" * 22)
    assert Run.from_json(json.loads(report_json(run))) == run


def test_numbers_that_are_not_finite_are_no_findings():
    with pytest.raises(InputError, match="not a finite number"):
        Finding("audit", "a", "b", float("inf"))


def test_verdicts_say_what_came_and_how_sure_that_is():
    whole, strict = Target("whole", "no protection"), Target("model", "DP-SGD")
    sentences = reads([(whole, 9, 10, share(9, 10)), (strict, 0, 10, share(0, 10))], "codes")
    assert sentences[0] == "With no protection the attacker reads 9 of 10 codes; from DP-SGD, none."
    assert sentences[1] == "From DP-SGD: none of 10, interval 0 to 26 %."


def test_without_the_unprotected_model_the_first_sentence_says_what_is_counted():
    targets = Target("model", "a model trained by CADP at epsilon 2"), Target("public", "public model")
    sentences = reads([(target, 0, 10, share(0, 10)) for target in targets], "planted codes")
    assert sentences == (
        "From a model trained by CADP at epsilon 2: none of 10 planted codes, interval 0 to 26 %.",
        "From the public model, which saw none of it: none of 10, interval 0 to 26 %.",
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.0, "0"), (0.004, "0.4"), (0.26, "26"), (0.998, "99.8"), (0.9996, "100"), (1.0, "100")],
)
def test_what_is_not_zero_is_not_written_as_zero_nor_what_is_not_all_as_a_hundred(value, words):
    assert percent(value) == words


def test_two_attacks_at_once_are_refused_with_a_sentence_and_the_first_goes_on(settings):
    begun, go_on = threading.Event(), threading.Event()
    done = []

    def slow(watch):
        begun.set()
        assert go_on.wait(30)
        return [finding()]

    first = threading.Thread(target=lambda: done.append(conduct(settings, prepared(slow))))
    first.start()
    assert begun.wait(30)
    with pytest.raises(AttackRunning, match="Another attack is running"):
        conduct(settings, prepared(lambda watch: [finding()]))
    go_on.set()
    first.join(30)
    assert done[0].status == "finished"
    assert conduct(settings, prepared(lambda watch: [finding()])).status == "finished"
    assert len(list_runs(settings)) == 2


def test_a_cancelled_attack_keeps_what_it_had_found(settings):
    cancel = Cancel()

    def second(watch):
        watch.at(0.5, "working")
        cancel.set()
        watch.at(0.6, "working")
        return [finding("never")]

    heard = []
    watch = Watch(heard.append, cancel)
    run = conduct(settings, prepared(lambda watch: [finding("first")], second), watch=watch)
    assert run.status == "cancelled"
    assert [each.target for each in run.outcome.findings] == ["first"]
    assert run.outcome.verdict == ("1 found",)
    assert [reached.share for reached in heard] == [0.75]
    assert load_run(settings, run.id) == run


def test_a_last_step_that_ends_early_on_a_cancel_keeps_its_findings_and_is_no_finished_run(settings):
    cancel = Cancel()

    def what_it_had(watch):
        cancel.set()
        return [finding("some of it")]

    run = conduct(settings, prepared(what_it_had), watch=Watch(cancelled=cancel))
    assert (run.status, [each.target for each in run.outcome.findings]) == ("cancelled", ["some of it"])


def test_what_is_done_now_is_said_behind_what_it_is_about():
    heard: list[str] = []
    watch = Watch(lambda reached: heard.append(reached.doing))
    watch.about("Strict").part(0.0, 0.5).about("secret 2 of 6").at(0.1, "searching")
    watch.at(0.9, "looking on")
    assert heard == ["Strict: secret 2 of 6: searching", "looking on"]


def test_a_bar_never_goes_back():
    heard: list[float] = []
    watch = Watch(lambda reached: heard.append(reached.share))
    for done in (0.1, 0.5, 0.2, 0.9):
        watch.part(0.5, 1.0).at(done, "searching")
    watch.part(0.0, 0.1).at(1.0, "looking back")
    assert heard == [0.55, 0.75, 0.75, 0.95, 0.95]


def test_a_target_that_goes_away_ends_the_run_with_its_sentence_and_loses_nothing(settings):
    def gone(watch):
        raise TargetGone("notes was deleted while it was attacked.")

    told = []
    run = conduct(settings, prepared(lambda watch: [finding()], gone), notice=told.append)
    assert (run.status, run.problem) == ("stopped", "notes was deleted while it was attacked.")
    assert len(run.outcome.findings) == len(told) == 1
    with pytest.raises(TargetGone):
        conduct(settings, prepared(gone))
    with one_at_a_time(settings):
        pass  # the place is free again


def test_the_estimate_is_the_sum_of_the_steps_and_the_watch_follows_it(settings):
    ready = prepared(lambda watch: [finding()], lambda watch: [finding()], seconds=2.0)
    assert ready.seconds == 4.0
    assert prepare_audit(games=4000).seconds > prepare_audit(games=400).seconds


def test_a_folder_that_cannot_be_written_is_a_sentence(settings, monkeypatch):
    blocked = settings.model_copy(update={"data_dir": settings.data_dir / "file"})
    settings.data_dir.mkdir(parents=True)
    (settings.data_dir / "file").write_text("in the way")
    with pytest.raises(InputError, match="cannot be made"):
        conduct(blocked, prepared(lambda watch: [finding()]))


def test_the_audit_run_draws_the_bound_beside_epsilon(settings):
    run = conduct(settings, prepare_audit("pmixed", games=400))
    (picture,) = run.outcome.pictures
    assert [bar.name for bar in picture.bars] == ["audited, at least", "proved, at most"]
    assert picture.bars[1].value == 1.0
    assert "No world refutes its epsilon" in run.outcome.verdict[0]
    with pytest.raises(InputError, match="plays on"):
        prepare_audit("nonsense")


def test_what_the_papers_account_claims_is_not_called_proved(settings):
    run = conduct(settings, prepare_audit("submix", games=40))
    assert {bar.name for bar in run.outcome.pictures[0].bars} == {"audited, at least", "claimed, at most"}
    assert "proved" not in " ".join(run.outcome.verdict)
    assert run.outcome.verdict[0].endswith("The STOP attack has a world in which it does not hold.")
