"""A person with a browser: calls handlers by their names, in the queue or past it as the page does."""

import html
import json
from pathlib import Path
from typing import Any

import httpx

from tests.serving import Apart, Served

SKIPPED = {"__type__": "update"}


class Caller:
    """Somebody with a session and, perhaps, a token."""

    def __init__(self, served: Served | Apart, session: str = "caller") -> None:
        self.url, self.session, self.token = served.url, session, ""
        config = httpx.get(f"{served.url}/config").json()
        self.components = {each["id"]: each for each in config["components"]}
        self.handlers = {each["api_name"]: each for each in config["dependencies"] if each["backend_fn"]}

    def call(self, name: str, data: list[Any]) -> dict[str, Any]:
        """The answer: `data` where the handler gave one, `error` where it did not."""
        handler = self.handlers[name]
        body = {"fn_index": handler["id"], "data": data, "session_hash": self.session}
        if not handler["queue"]:
            return httpx.post(f"{self.url}/gradio_api/run/predict", json=body, timeout=240).json()
        httpx.post(f"{self.url}/gradio_api/queue/join", json=body, timeout=240).raise_for_status()
        address, params = f"{self.url}/gradio_api/queue/data", {"session_hash": self.session}
        with httpx.stream("GET", address, params=params, timeout=240) as stream:
            for line in stream.iter_lines():
                message = json.loads(line.removeprefix("data:")) if line else {}
                if message.get("msg") == "process_completed":
                    return message["output"]
        raise AssertionError("the stream ended without an answer")

    def asks(self, name: str, *values: Any) -> dict[str, Any]:
        """Calls with the token first; gives what changed, by the elements' ids, as a reader sees it."""
        answer = self.call(name, [self.token, *values])
        outputs = [self.components[number] for number in self.handlers[name]["outputs"]]
        named = zip(outputs, answer["data"], strict=True)
        changed = {each["props"].get("elem_id"): _seen(value) for each, value in named}
        return {name: value for name, value in changed.items() if name and value != SKIPPED}

    def upload(self, path: Path) -> dict[str, Any]:
        """Leaves a file in the web server's cache, as a browser does, and says where."""
        with path.open("rb") as file:
            answer = httpx.post(f"{self.url}/gradio_api/upload", files={"files": (path.name, file)})
        return file_at(answer.json()[0])


def _seen(value: Any) -> Any:
    return html.unescape(value) if isinstance(value, str) else value


def unchanged(answer: dict[str, Any]) -> bool:
    """Whether no component was changed; to an HTML one Gradio repeats the mark of that in its props."""
    own = {"__type__", "props"}
    return all(value is None or (isinstance(value, dict) and set(value) <= own) for value in answer["data"])


def file_at(path: str) -> dict[str, Any]:
    return {"path": path, "meta": {"_type": "gradio.FileData"}}
