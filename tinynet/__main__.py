"""``python -m tinynet`` is the command ``tinynet``."""

import sys

from tinynet.train.cli import main

if __name__ == "__main__":
    sys.exit(main())
