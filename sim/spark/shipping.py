"""The packages that the study's workers import, as one zip for Spark to ship.

Law of this file: Python files only, all of `chord`, `squid` and `sim`; what they import beside
(numpy, hilbertcurve, and pyarrow for Spark itself) is installed where workers run.

    python -m sim.spark.shipping meteor.zip
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final
from zipfile import ZIP_DEFLATED, ZipFile

PACKAGES: Final = ("chord", "squid", "sim")


def packed(path: Path) -> Path:
    """Write the zip to `path`, which is returned: for `spark-submit --py-files`."""
    root = Path(__file__).parents[2]
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            for source in sorted((root / package).rglob("*.py")):
                archive.write(source, source.relative_to(root))
    return path


if __name__ == "__main__":
    packed(Path(sys.argv[1]))
