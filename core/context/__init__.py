"""Sentences and their context: the detector, its card, and the alpha-context."""

from core.context.detector import SHIPPED, Detector, Sentence, Span

__all__ = ["SHIPPED", "Detector", "Sentence", "Span"]
