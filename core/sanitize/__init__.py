"""Word vectors and what perturbs text with them."""
