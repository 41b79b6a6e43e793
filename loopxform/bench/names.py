"""The names of what is timed."""

from __future__ import annotations

DEFAULT = ("naive", "block", "register")
"""Recipes; the first is what speed-ups are against."""

LIBRARIES = ("cublas", "clblast")
