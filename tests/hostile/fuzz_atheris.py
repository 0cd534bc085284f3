"""Coverage-guided fuzzing of one door, for as long as one likes:

    python -m tests.hostile.fuzz_atheris text -runs=1000000

Anything but an answer or a typed error stops it, with the document in a file beside.  Needs the
extra `fuzz` (atheris, which comes as a wheel for Linux on CPython 3.11 to 3.13, and else needs a
clang of its own).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["arms", "meteor", "squid"]):
    from tests.hostile.corpus import everything
    from tests.hostile.doors import DOORS, knock


def main() -> None:
    """Fuzz the door that the first argument names; the rest goes to libFuzzer."""
    door = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if door not in DOORS:
        sys.exit(f"name a door: {', '.join(DOORS)}")
    with tempfile.TemporaryDirectory() as directory:
        for at, (where, _, data) in enumerate(everything()):
            if where == door and len(data) < 5000:
                (Path(directory) / str(at)).write_bytes(data)
        atheris.Setup([*sys.argv, directory], lambda data: knock(door, data))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
