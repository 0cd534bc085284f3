"""One row of one system, in a process of its own: `python -m ...comparison.SYSTEM ROW`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any


def main(rows: Mapping[str, Callable[[], Any]]) -> None:
    """Measure the row that the command line names, and print it as one JSON line."""
    print(json.dumps(rows[sys.argv[1]]()), flush=True)
