"""The look: one accent, neutrals tinted towards it, fonts that every machine already has."""

from pathlib import Path

import gradio as gr
from gradio.themes.utils.colors import Color

ASSETS = Path(__file__).resolve().parents[2] / "assets"

_TEAL = Color(
    name="studio",
    c50="#eef8f7",
    c100="#d5efec",
    c200="#aedfda",
    c300="#7cc8c2",
    c400="#45aaa4",
    c500="#1f8c87",
    c600="#0f706d",
    c700="#0d5a58",
    c800="#0e4847",
    c900="#0f3c3b",
    c950="#062322",
)
_NEUTRAL = Color(
    name="ink",
    c50="#f7f9f9",
    c100="#eef2f2",
    c200="#dde4e4",
    c300="#c3cdcd",
    c400="#8d9b9c",
    c500="#647273",
    c600="#4b5859",
    c700="#364142",
    c800="#222b2c",
    c900="#161d1e",
    c950="#0e1415",
)


def theme() -> gr.themes.Base:
    """The Gradio theme; colours that Gradio does not know of are in assets/studio.css."""
    return gr.themes.Base(
        primary_hue=_TEAL,
        secondary_hue=_TEAL,
        neutral_hue=_NEUTRAL,
        radius_size=gr.themes.sizes.radius_md,
        font=["system-ui", "-apple-system", "Segoe UI", "Roboto", "sans-serif"],
        font_mono=["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"],
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        body_text_color="*neutral_900",
        body_text_color_dark="*neutral_100",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_400",
        block_background_fill="white",
        block_background_fill_dark="*neutral_900",
        block_border_width="1px",
        block_border_color="*neutral_200",
        block_border_color_dark="*neutral_800",
        block_label_text_color="*neutral_700",
        block_label_text_color_dark="*neutral_200",
        block_title_text_color="*neutral_800",
        block_title_text_color_dark="*neutral_100",
        block_info_text_color="*neutral_600",
        block_info_text_color_dark="*neutral_400",
        block_shadow="none",
        input_background_fill="white",
        input_background_fill_dark="*neutral_900",
        input_border_width="1px",
        input_border_color="*neutral_300",
        input_border_color_dark="*neutral_700",
        input_placeholder_color="*neutral_500",
        input_placeholder_color_dark="*neutral_400",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover_dark="*primary_700",
        button_primary_text_color="white",
        button_primary_text_color_dark="white",
        button_secondary_background_fill="white",
        button_secondary_background_fill_hover="*neutral_100",
        button_secondary_background_fill_dark="*neutral_800",
        button_secondary_background_fill_hover_dark="*neutral_700",
        button_secondary_border_color="*neutral_300",
        button_secondary_border_color_dark="*neutral_700",
        slider_color="*primary_600",
        slider_color_dark="*primary_400",
        link_text_color="*primary_700",
        link_text_color_dark="*primary_300",
    )


def css_paths() -> list[Path]:
    """The style sheets beside the theme: the house, and the panels that need more."""
    names = ("studio", "predict", "corpora", "sanitize", "detect", "attack")
    return [ASSETS / f"{name}.css" for name in names]
