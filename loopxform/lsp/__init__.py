"""The language server: what `check` finds out, in an editor, while its user types."""
