"""What holds for a C file: its project's loopxform.toml and compile_commands.json."""

from loopxform.settings.flags import Flags
from loopxform.settings.lookup import Settings, settings_for

__all__ = ["Flags", "Settings", "settings_for"]
