"""`python -m loopxform`."""

from loopxform.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
