"""The version of loopxform."""

__version__ = "0.1.0"
