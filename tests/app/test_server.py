"""What the server gives away, takes in and refuses."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError

from app.main import build_demo, launch_options
from core.settings import Settings
from core.studio import Studio
from tests.serving import serve


@pytest.fixture(scope="module")
def http(served):
    with httpx.Client(base_url=served.url, timeout=240) as client:
        yield client


def test_every_answer_keeps_the_page_at_home(http):
    for path in ("/", "/config", "/gradio_api/info", "/nothing/here"):
        policy = http.get(path).headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert not any(elsewhere in policy for elsewhere in ("http:", "https:", "*"))


def test_a_body_over_the_limit_is_refused_with_a_sentence(http):
    answer = http.post("/gradio_api/upload", content=b"x" * 1_000_001)
    assert answer.status_code == 413
    assert answer.text == "This request is larger than 1 MB, the most that is taken here."


def test_a_body_over_the_limit_without_a_length_is_refused_too(http):
    def chunks():
        for _ in range(40):
            yield b"x" * 50_000

    json = {"content-type": "application/json"}
    answer = http.post("/gradio_api/queue/join", content=chunks(), headers=json)
    assert answer.status_code == 413


def test_history_and_monitoring_are_off(http):
    assert http.get("/monitoring").status_code in (403, 404)
    assert http.get("/gradio_api/monitoring/summary").status_code in (403, 404)
    assert http.get("/gradio_api/runs").status_code in (403, 404)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "app.py", "studio.db"]
)
def test_no_file_of_the_machine_is_served(http, served, path):
    answer = http.get(f"/gradio_api/file={path}")
    assert answer.status_code in (400, 403, 404)
    data = served.studio.settings.data_dir
    assert http.get(f"/gradio_api/file={data}/studio.db").status_code in (400, 403, 404)


def test_a_page_elsewhere_cannot_call_the_server(http):
    answer = http.get("/config", headers={"origin": "https://elsewhere.example"})
    assert answer.headers.get("access-control-allow-origin") not in ("*", "https://elsewhere.example")


def test_the_server_sets_no_cookie(http):
    assert "set-cookie" not in http.get("/").headers


def test_what_is_not_needed_is_off():
    options = launch_options(Settings(_env_file=None))
    assert options["run_history"] is False
    assert options["enable_monitoring"] is False
    assert options["strict_cors"] is True
    assert options["allowed_paths"] == []
    assert options["share"] is False


def test_a_data_folder_that_cannot_be_written_still_gives_a_page_and_a_sentence(tmp_path, tiny_llama):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the folder should be")
    studio = Studio(Settings(_env_file=None, data_dir=blocked, model=str(tiny_llama)))
    assert studio.store is None
    assert studio.store_problem.endswith(".")
    studio.note(session="s", panel="predict", action="generate", outcome="done", duration_ms=1.0)
    page = str(build_demo(studio).get_config_file())
    assert "Only the public model answers" in page


def test_an_unknown_model_is_a_sentence_for_whoever_asks(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = Settings(_env_file=None, data_dir=tmp_path, model="nobody/no-such-model", port=0)
    with serve(settings) as served, pytest.raises(AppError, match=r"no-such-model.*'embedded'"):
        Client(served.url, verbose=False).predict("Hello", api_name="/generate")


def test_a_port_in_use_is_a_sentence(served, tmp_path):
    environment = {
        **os.environ,
        "SUBMIX_DATA_DIR": str(tmp_path),
        "SUBMIX_PORT": served.url.rsplit(":", 1)[1],
    }
    root = Path(__file__).resolve().parents[2]
    second = subprocess.run(
        [sys.executable, "app.py"], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert second.returncode == 1
    assert second.stderr.strip().splitlines()[-1].startswith("Error: port")
    assert "Traceback" not in second.stderr


def test_sharing_without_a_password_is_refused_in_a_sentence(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "SUBMIX_DATA_DIR": str(tmp_path), "SUBMIX_PORT": "0"}
    environment.pop("SUBMIX_CURATOR_PASSWORD", None)
    ended = subprocess.run(
        [sys.executable, "app.py", "--share"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "Set SUBMIX_CURATOR_PASSWORD first" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not list(tmp_path.iterdir())
