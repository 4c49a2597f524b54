"""Language models: the public one, adapters stacked on it, fine-tuning and decoding."""
