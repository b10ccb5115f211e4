"""`python -m autopilot` is the command itself."""

import sys

from autopilot.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
