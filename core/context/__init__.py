"""Sentences and their context."""
