"""Kernels on devices. Whoever loads this package is told where numpy is missing."""

from loopxform.errors import DeviceError

try:
    import numpy  # noqa: F401
except ImportError as e:
    message = f"running kernels needs numpy, which cannot be imported: {e}"
    raise DeviceError(message, help="pip install numpy") from e
