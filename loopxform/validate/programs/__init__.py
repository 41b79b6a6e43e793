"""The two programs that are compared: the user's function, and what the host launches for it."""

from loopxform.validate.programs.function import User, user
from loopxform.validate.programs.launches import Launches, launches
from loopxform.validate.programs.sizes import accepted

__all__ = ["Launches", "User", "accepted", "launches", "user"]
