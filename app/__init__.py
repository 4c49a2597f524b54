"""The Gradio side: panels format and wire, `core` computes."""
