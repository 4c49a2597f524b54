"""Undoing sanitised text, by the law of the mechanism and a prior over words."""
