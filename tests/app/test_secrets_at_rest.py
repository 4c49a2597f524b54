"""A hundred secrets go through every way in; afterwards none is in clear in a file or in what was printed."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from core.settings import Settings
from tests.app.calling import Caller
from tests.app.conftest import PASSWORD
from tests.ensembles import make_ensemble
from tests.serving import Served, serve

SECRETS = [f"zq{number:03d}x{(number * 7919 + 104729) % 999_983:06d}" for number in range(100)]


@dataclass(frozen=True)
class Place:
    """A server whose data, web cache and temporary files all lie in one folder."""

    served: Served
    folder: Path

    def found(self) -> dict[str, list[str]]:
        """The secrets that are in clear in each file, where there are any."""
        held = {}
        for path in self.folder.rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            inside = [each for each in SECRETS if each.encode() in content or _wide(each) in content]
            if inside:
                held[path.name] = inside
        return held


def _wide(secret: str) -> bytes:
    return secret.encode("utf-16-le")


@pytest.fixture(scope="module")
def place(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("everything")
    settings = Settings(
        _env_file=None, data_dir=folder / "data", model=str(tiny_llama), port=0, curator_password=PASSWORD
    )
    make_ensemble(settings, "ward", synthetic=False, queries=5000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(folder / "cache"))
        patch.setattr(tempfile, "tempdir", str(folder / "temporary"))
        (folder / "temporary").mkdir()
        with serve(settings) as served:
            yield Place(served, folder)


def ways(served: Served) -> list[Callable[[str], object]]:
    """Every way in, with good requests and bad ones."""
    client, caller = Client(served.url, verbose=False), Caller(served)
    joining = f"{served.url}/gradio_api/queue/join"

    def generate(prompt: str, corpus: str) -> object:
        return client.predict(prompt, 0.8, 0, 1.0, 2, corpus, api_name="/generate")

    return [
        lambda secret: generate(f"My code is {secret}", "ward"),
        lambda secret: generate("My code is", f"corpus-{secret}"),
        lambda secret: client.predict(f"Room {secret} 12", api_name="/sanitize"),
        lambda secret: client.predict(f"{secret} \0 broken", api_name="/sanitize"),
        lambda secret: client.predict("Room 12", "smdp", f"policy-{secret}", api_name="/sanitize"),
        lambda secret: client.predict(secret, api_name="/sign_in"),
        lambda secret: client.predict(f"The PIN of my card is {secret}.", api_name="/detect"),
        lambda secret: caller.call("sign_in", [secret]),
        lambda secret: httpx.get(f"{served.url}/gradio_api/file={secret}"),
        lambda secret: httpx.post(joining, json={"data": [secret], "fn_index": 0}),
    ]


def test_no_secret_is_left_in_clear_anywhere(place, capfd):
    doors, refused = ways(place.served), 0
    for number, secret in enumerate(SECRETS):
        try:
            doors[number % len(doors)](secret)
        except (AppError, ValueError):
            refused += 1
    assert 20 <= refused <= 70  # good requests and bad ones were both among them
    assert len(place.served.studio.store.log.events(limit=200)) >= 30  # and the log was written
    assert place.found() == {}
    printed = capfd.readouterr()
    assert [secret for secret in SECRETS if secret in printed.out + printed.err] == []


def test_an_upload_is_gone_after_use(place, tmp_path):
    caller = Caller(place.served)
    note = tmp_path / "note.txt"
    note.write_text(" ".join(SECRETS) + " 12")
    upload = caller.upload(note)
    assert place.found() != {}  # it is there, and the search finds it
    inputs, name = next(
        (handler["inputs"], name)
        for name, handler in caller.handlers.items()
        if any(_id(caller, each) == "sanitize-file" for each in handler["inputs"])
    )
    values = [
        upload if _id(caller, each) == "sanitize-file" else caller.components[each]["props"].get("value")
        for each in inputs
    ]
    assert "rewritten" in str(caller.call(name, values))
    kept = {name for name in place.found() if "sanitised" not in name}
    assert kept == set()


def _id(caller: Caller, component: int) -> str | None:
    return caller.components[component]["props"].get("elem_id")
