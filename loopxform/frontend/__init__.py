"""From C text to the loop tree: the only home of pycparser and pcpp."""

from loopxform.frontend.parse import parse_file
from loopxform.frontend.parsed import CppOptions, Note, Parsed

__all__ = ["CppOptions", "Note", "Parsed", "parse_file"]
