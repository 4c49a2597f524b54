"""Assembles the pages and says how they are served."""

from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from app.address import SCRIPT, remember_tab, restore
from app.components import copying, folds, header, ribbon, tour
from app.components.markup import notice
from app.components.theme import css_paths, theme
from app.fetching import fetch_nothing
from app.identity import Curators
from app.keeping import VISITORS, keep_no_records, keep_no_settings
from app.panels import api, attack, corpora, curator, detect, log, predict, sanitize
from app.reports import SharedReports
from app.server import middleware
from core import memory
from core.settings import Settings
from core.studio import Studio


def build_demo(studio: Studio) -> gr.Blocks:
    """The whole application as Gradio Blocks, not yet served."""
    memory.settle()
    fetch_nothing()
    keep_no_settings()
    curators = Curators(studio.settings)
    with gr.Blocks(
        title="SubMix Studio", analytics_enabled=False, fill_width=True, delete_cache=(600, 3600)
    ) as demo:
        token = gr.BrowserState("", storage_key="submix-studio-curator")
        header.build(demo, studio)
        if studio.store_problem:
            gr.HTML(notice(f"{studio.store_problem} Only the public model answers.", kind="problem"))
        with gr.Tabs(elem_id="panels", overflow_behavior="wrap") as tabs:
            with gr.Tab("Predict", id="predict") as predict_tab:
                fields = predict.build(demo, studio, curators, token, predict_tab)
            with gr.Tab("Corpora", id="corpora") as corpora_tab:
                corpora.build(demo, studio, curators, token, corpora_tab)
            with gr.Tab("Sanitize", id="sanitize") as sanitize_tab:
                found, sanitizing = sanitize.build(demo, studio, sanitize_tab)
                fields += found
            with gr.Tab("Detect", id="detect") as detect_tab:
                receiver = detect.Receiver(
                    sanitizing.text, sanitizing.chips, sanitizing.detector, sanitizing.context_said, tabs
                )
                fields += detect.build(demo, studio, curators, token, detect_tab, receiver)
            with gr.Tab("Attack", id="attack") as attack_tab:
                fields += attack.build(demo, studio, curators, token, attack_tab)
            with gr.Tab("Log", id="log") as log_tab:
                fields += log.build(studio, curators, token, log_tab)
            with gr.Tab("API", id="api") as api_tab:
                api.build(demo, studio, api_tab)
        if studio.settings.curator_password is not None:
            curator.build(demo, curators, token)
        remember_tab(predict_tab, "predict")
        remember_tab(corpora_tab, "corpora")
        remember_tab(sanitize_tab, "sanitize")
        remember_tab(detect_tab, "detect")
        remember_tab(attack_tab, "attack")
        remember_tab(log_tab, "log")
        remember_tab(api_tab, "api")
        restore(demo, tabs, ["predict", "corpora", "sanitize", "detect", "attack", "log", "api"], fields)
    demo.queue(max_size=studio.settings.queue_size, api_open=False, default_concurrency_limit=8)
    keep_no_records(demo)
    return demo


def launch_options(settings: Settings, *, share: bool = False) -> dict[str, Any]:
    """Everything `launch` is told: what is not needed is off, and nothing is served but the page."""
    return {
        "server_name": settings.listens,
        "server_port": settings.port or None,
        "theme": theme(),
        "css_paths": css_paths(),
        "head": SCRIPT + copying.SCRIPT + folds.SCRIPT + ribbon.SCRIPT + tour.SCRIPT,
        "footer_links": ["settings"],  # the API has a panel of its own
        "max_file_size": f"{settings.max_upload_mb}mb",
        "app_kwargs": {"middleware": [Middleware(SharedReports, settings=settings), *middleware(settings)]},
        "run_history": False,
        "enable_monitoring": False,
        "state_session_capacity": VISITORS,
        "strict_cors": True,
        "allowed_paths": [],
        "show_error": False,
        "share": share,
        "pwa": False,
        "mcp_server": True,
        "quiet": True,
        # The page on a Space is the page at home. Rendered on the server, it would come from another program,
        # without our headers, and first without our style sheets.
        "ssr_mode": False,
        # Gradio gives up where its own page takes three seconds, which a busy machine may need.
        "_frontend": False,
    }
