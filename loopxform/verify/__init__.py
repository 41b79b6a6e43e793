"""The interpreter, your C through cc, and comparison."""

import loopxform.runtime  # noqa: F401  # says where numpy is missing
