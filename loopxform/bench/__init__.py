"""Timing: variants of a nest, libraries and programs of others, side by side in one run."""
