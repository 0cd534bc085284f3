"""`python -m sim` is the command `meteor-sim`."""

import sys

from sim.cli import main

sys.exit(main())
