"""The study as an application for `spark-submit`, which decides where it runs.

Law of this file: nothing but the way into `meteor-sim study`; arguments are the same.

    spark-submit --py-files meteor.zip sim/spark/application.py --seeds 5 --out results
"""

from __future__ import annotations

import sys

from sim.cli import main

if __name__ == "__main__":
    sys.exit(main(["study", *sys.argv[1:]]))
