"""The server keeps no more of a call that is over than it needs.

Three things grew with the number of calls and of visitors, and none of them was ever read again. The pools
of memory of Gradio's many threads are seen to in `core.memory`; with 32 clients half a gigabyte lay free in
16 of them. The other two are records of Gradio's own:

- Of every visitor Gradio keeps the settings of all components with the values that were last typed, for its
  deep links. These are closed here, and took 0.7 MB and a tenth of a second for each visitor.
- Of the last 10,000 calls it keeps a record, and reads all of them after each call, for its monitoring page.
  That page is closed here too.
"""

import sys
from types import SimpleNamespace
from typing import Any

import gradio as gr
from gradio import state_holder
from gradio.state_holder import SessionState

VISITORS = 2_000  # remembered at most; the one not seen longest is forgotten first
_RECORDS = 1


def keep_no_settings() -> None:
    """Let Gradio keep of a visitor what a handler may ask for, and nothing else; for this process."""
    setattr(state_holder, "SessionState", _Visit)  # noqa: B010


def keep_no_records(demo: gr.Blocks) -> None:
    """Let the queue of these pages forget a call when it is over; after `demo.queue`."""
    demo._queue.ANALYTICS_MAX_EVENTS = _RECORDS
    demo._queue.ANAYLTICS_CACHE_FREQUENCY = sys.maxsize  # spelt so in Gradio: how often the records are read


class _Visit(SessionState):
    """A visitor's state: the values of `gr.State` and changed components, without a copy for deep links."""

    def __init__(self, blocks: gr.Blocks) -> None:
        # Gradio copies the settings of the components that `blocks` lists; it shall find none.
        super().__init__(SimpleNamespace(default_config=blocks.default_config, blocks=()))  # type: ignore[arg-type]

    def _update_config(self, key: int) -> None:
        """Keep no copy of a component that changed."""

    def _update_value_in_config(self, key: int, value: Any) -> None:
        """Keep no copy of what was typed or shown."""
