"""`python -m meteor` is the command `meteor`."""

import sys

from meteor.cli import main

sys.exit(main())
