import hashlib
import hmac
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, text

from core.errors import StudioError
from core.settings import Settings
from core.store import EventFilter, LogUnavailable, Store, open_store
from core.store.tables import EVENTS
from tests.core.store.budgets import open_ward

NOW = datetime.now(UTC)
SECRET = "the card code is 4711"


def test_an_event_comes_back_as_it_was(store: Store):
    number = store.log.record(
        session="s1",
        panel="Predict",
        action="generate",
        outcome="ok",
        started=NOW,
        duration_ms=12.5,
        cost=0.125,
        corpus="ward",
        agent="browser",
        role="curator",
    )
    (event,) = store.log.events()
    assert (event.id, event.session, event.panel, event.action) == (number, "s1", "Predict", "generate")
    assert (event.started, event.duration_ms, event.cost, event.corpus) == (NOW, 12.5, 0.125, "ward")
    assert (event.text, event.text_hash, event.text_length) == (None, None, None)
    (session,) = store.log.sessions()
    assert (session.id, session.agent, session.role, session.events) == ("s1", "browser", "curator", 1)


def test_private_text_is_kept_as_keyed_hash_and_length_only(settings: Settings, store: Store):
    store.log.record(session="s", panel="Predict", action="generate", text=SECRET)
    (event,) = store.log.events()
    key = (settings.data_dir / "key").read_bytes()
    assert event.text is None
    assert event.text_length == len(SECRET)
    assert event.text_hash == hmac.new(key, SECRET.encode(), hashlib.sha256).hexdigest()
    assert event.text_hash != hashlib.sha256(SECRET.encode()).hexdigest()


def test_private_text_reaches_no_file(sqlite_settings: Settings):
    with open_store(sqlite_settings) as store:
        store.log.record(session="s", panel="Predict", action="generate", text=SECRET)
        files = [path for path in sqlite_settings.data_dir.iterdir() if path.is_file()]
        assert len(files) >= 4
        assert not any(SECRET.encode() in path.read_bytes() for path in files)


def test_text_is_in_clear_for_a_synthetic_corpus_or_by_choice(tmp_path):
    for name, log_text, synthetic in (("a", False, True), ("b", True, False)):
        settings = Settings(data_dir=tmp_path / name, database_url="", log_text=log_text)
        with open_store(settings) as store:
            store.log.record(session="s", panel="p", action="a", text=SECRET, synthetic=synthetic)
            assert store.log.events()[0].text == SECRET


@pytest.mark.parametrize("log_text", [False, True])
def test_any_text_can_be_logged(settings: Settings, log_text: bool):
    with open_store(settings.model_copy(update={"log_text": log_text})) as store:
        for nasty in ("", "\ud800 lone", "a\x00b", "\u202eright to left", "😀" * 10_000, "x" * 100_000):
            store.log.record(
                session=nasty, panel=nasty, action=nasty, outcome=nasty, corpus=nasty, text=nasty,
                agent=nasty, role=nasty, cost=float("nan"), duration_ms=float("inf"),
            )  # fmt: skip
            event = store.log.events(limit=1)[0]
            assert event.text_length == len(nasty)
            assert (event.cost, event.duration_ms) == (None, None)


def test_filters_narrow_and_the_newest_comes_first(store: Store):
    for hour in range(6):
        store.log.record(
            session=f"s{hour % 2}",
            panel="Predict" if hour < 3 else "Log",
            action=f"Step_{hour}%",
            outcome="ok" if hour != 4 else "refused",
            started=NOW - timedelta(hours=hour),
        )

    def hours(**wanted) -> list[str]:
        return [event.action for event in store.log.events(**wanted)]

    assert hours(limit=2) == ["Step_0%", "Step_1%"]
    assert hours(session="s1") == ["Step_1%", "Step_3%", "Step_5%"]
    assert hours(panel="Log", outcome="ok") == ["Step_3%", "Step_5%"]
    assert hours(since=NOW - timedelta(hours=1), until=NOW) == ["Step_1%"]
    assert hours(action="step_4") == ["Step_4%"]
    assert hours(action="%") == hours()
    assert hours(action="x%") == hours(action="_0_") == []
    assert hours(session=None, panel=None, action="") == hours()
    assert hours(until=NOW.replace(tzinfo=None) - timedelta(hours=4)) == ["Step_5%"]


def test_counts_put_every_event_into_its_stretch_of_time(store: Store):
    begin = datetime(2026, 5, 1, tzinfo=UTC)
    for minute, panel in ((0, "predict"), (1, "predict"), (29, "log"), (30, "log"), (59, "log")):
        store.log.record(session="s", panel=panel, action="a", started=begin + timedelta(minutes=minute))
    hour: EventFilter = {"since": begin, "until": begin + timedelta(hours=1)}
    assert store.log.counts(2, **hour) == {"predict": [2, 0], "log": [1, 2]}
    of_the_log: EventFilter = {**hour, "panel": "log"}
    assert store.log.counts(4, **of_the_log) == {"log": [0, 1, 1, 1]}
    assert store.log.first(panel="log") == begin + timedelta(minutes=29)
    assert store.log.count(session_begins="s") == 5
    assert store.log.count(session_begins="%") == 0


def test_a_stream_gives_every_event_once(store: Store):
    store.log.record(session="s", panel="p", action="0")
    # Many share a moment, and the pages of the stream must not lose or repeat them.
    moments = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=number // 700) for number in range(1203)]
    common = {"session": "s", "panel": "p", "outcome": "", "corpus": ""}
    with store.engine.begin() as connection:
        rows = [{**common, "action": str(n), "started": moments[n]} for n in range(1, 1203)]
        connection.execute(insert(EVENTS), rows)
    actions = [event.action for event in store.log.stream()]
    assert len(actions) == 1203
    assert len(set(actions)) == 1203


def test_purge_and_forget_delete_what_they_say_and_never_the_ledger(store: Store):
    open_ward(store)
    store.ledger.debit("ward", [0.1] * 3, session="old")
    for session, age in (("old", 40), ("old", 31), ("new", 29), ("new", 0), ("gone", 1)):
        store.log.record(session=session, panel="p", action="a", started=NOW - timedelta(days=age))
    assert store.log.purge(timedelta(days=30)) == 2
    assert {event.session for event in store.log.events()} == {"new", "gone"}
    assert store.log.forget("gone") == 1
    assert store.log.forget("gone") == 0
    assert "gone" not in {session.id for session in store.log.sessions()}
    assert store.log.purge(datetime.now(UTC) + timedelta(seconds=5)) == 2
    assert store.log.sessions() == []
    assert len(store.ledger.entries()) == 3
    assert store.ledger.verify().ok


def test_threads_that_open_one_session_together_all_get_logged(store: Store):
    failures: list[StudioError] = []

    def work() -> None:
        try:
            store.log.record(session="same", panel="p", action="a")
        except StudioError as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert store.log.sessions()[0].events == 12


def test_a_failing_log_raises_its_own_type_that_a_caller_can_swallow(sqlite_settings: Settings):
    with open_store(sqlite_settings) as store:
        with store.engine.begin() as connection:
            connection.execute(text("DROP TABLE events"))
        for act in (
            lambda: store.log.record(session="s", panel="p", action="a"),
            store.log.events,
            store.log.sessions,
            lambda: list(store.log.stream()),
            lambda: store.log.purge(timedelta(days=1)),
            lambda: store.log.forget("s"),
        ):
            with pytest.raises(LogUnavailable, match="session log cannot be"):
                act()
        open_ward(store)
        store.ledger.debit("ward", [0.1] * 3)


def test_the_key_is_made_once_and_only_the_owner_reads_it(sqlite_settings: Settings):
    keys = []
    for _ in range(2):
        with open_store(sqlite_settings):
            keys.append((sqlite_settings.data_dir / "key").read_bytes())
    assert keys[0] == keys[1]
    assert len(keys[0]) == 32
    assert (sqlite_settings.data_dir / "key").stat().st_mode & 0o777 == 0o600
    (sqlite_settings.data_dir / "key").write_bytes(b"short")
    with pytest.raises(StudioError, match="key file"):
        open_store(sqlite_settings)
