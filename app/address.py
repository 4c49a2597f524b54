"""The page's address carries the panel and its settings, so that a link opens the same view. Never text."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from app.components.copying import copies

PANEL = "panel"


@dataclass(frozen=True)
class AddressField:
    """A control whose value is kept in the address under `name`."""

    name: str
    control: Component
    low: float
    high: float
    whole: bool = False

    def read(self, params: Mapping[str, str]) -> float | int | None:
        """The value in the address, if there is one and it lies within the control's limits."""
        try:
            value = float(params[self.name])
        except (KeyError, ValueError):
            return None
        if not self.low <= value <= self.high:  # also false for NaN
            return None
        return round(value) if self.whole else value


@dataclass(frozen=True)
class ChoiceField:
    """A control with a list of choices; they are asked for at each reading, for the list may grow.

    A choice may imply what other components show, `implied`; what the address says of these goes before it.
    """

    name: str
    control: Component
    choices: Callable[[], Collection[str]]
    implied: tuple[Block, ...] = ()
    implies: Callable[[str], Sequence[Any]] = lambda _: ()

    def read(self, params: Mapping[str, str]) -> str | None:
        """The choice in the address, if it is one of those that there are."""
        value = params.get(self.name)
        return value if value in self.choices() else None


@dataclass(frozen=True)
class ManyField:
    """A control with several choices at once; the address has them with commas."""

    name: str
    control: Component
    choices: Callable[[], Collection[str]]

    def read(self, params: Mapping[str, str]) -> list[str] | None:
        """Those of the choices in the address that there are; None where there is none of them."""
        known = self.choices()
        return [name for name in params.get(self.name, "").split(",") if name in known] or None


Field = AddressField | ChoiceField | ManyField

# One place in the browser that writes the address; it replaces, so that Back leaves the page. Controls also
# report changes while the page sets itself up, so nothing is written before the person has done something.
SCRIPT = """
<script>
for (const gesture of ["pointerdown", "keydown"]) {
  window.addEventListener(gesture, () => { window.studioActed = true; }, {capture: true});
}
window.studioAddress = (name, value) => {
  if (!window.studioActed) return;
  const url = new URL(window.location.href);
  url.searchParams.set(name, value);
  window.history.replaceState(window.history.state, "", url);
};
// The page is built with the panel of the address open, instead of opening another one first.
(() => {
  const wanted = new URL(window.location.href).searchParams.get("panel");
  const parts = window.gradio_config?.components ?? [];
  const tabs = parts.find((each) => each.props.elem_id === "panels");
  if (tabs && parts.some((each) => each.type === "tabitem" && each.props.id === wanted)) {
    tabs.props.selected = wanted;
  }
})();
</script>
"""

# Two frames later all that the server said is on the page.
_SET = """() => requestAnimationFrame(() => requestAnimationFrame(() => {
  document.documentElement.dataset.view = "set";
}))"""

COPY_LINK = copies("window.location.href", "The link is copied. It carries settings, never text.")


def remember(field: Field) -> None:
    """Write the control's value into the address whenever it changes."""
    field.control.change(  # type: ignore[attr-defined]
        fn=None, inputs=[field.control], js=f"(value) => studioAddress({field.name!r}, value)"
    )


def remember_tab(tab: gr.Tab, panel: str) -> None:
    """Write the open panel into the address."""
    tab.select(fn=None, js=f"() => studioAddress({PANEL!r}, {panel!r})")


def restore(demo: gr.Blocks, tabs: gr.Tabs, panels: list[str], fields: Sequence[Field]) -> None:
    """On opening a page, set the panel and the controls from the address; what makes no sense is ignored."""

    outputs: list[Block] = [tabs, *(field.control for field in fields)]
    for field in fields:
        if isinstance(field, ChoiceField):
            outputs += [block for block in field.implied if block not in outputs]

    def open_view(request: gr.Request) -> list[Any]:
        params = {key: str(value) for key, value in dict(request.query_params or {}).items()}
        panel = params.get(PANEL)
        found: dict[Block, Any] = {tabs: gr.Tabs(selected=panel)} if panel in panels else {}
        read = [(field, value) for field in fields if (value := field.read(params)) is not None]
        for field, value in read:
            if isinstance(field, ChoiceField):
                found.update(zip(field.implied, field.implies(str(value)), strict=True))
        found.update((field.control, value) for field, value in read)
        return [found.get(block, gr.skip()) for block in outputs]

    # Past the queue: a link opens its view also where many answers wait. Then the page says that it is set.
    light: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
    demo.load(open_view, outputs=outputs, **light).then(None, js=_SET, **light)
