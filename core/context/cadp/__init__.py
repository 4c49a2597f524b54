"""CADP training: Algorithm 1 of the paper, what it needs, and the models that come of it."""
