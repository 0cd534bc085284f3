"""Records in the form of the journal onto an empty shelf, all at once.

Law of this file: the same shelf as one by one, and nothing is looked into.  Where records live, how
they are told apart and what their profiles say goes into the tables by column; the records
themselves rest, as rows of the journal, until somebody asks for them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from arms import Store
from meteor.keeping.placement_table import PlacementTable
from meteor.keeping.plain_rows import PlainRows
from meteor.keeping.record_front import KINDS


@contextmanager
def no_collections() -> Iterator[None]:
    """Let Python's collector of cycles rest: what is read back from a journal has none and stays,
    and to look through it again and again would take as long as to make it.  Afterwards it counts
    as old, so that the next short collection does not look through it either."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # else it is somebody's wish that these stay frozen
            gc.freeze()
            gc.unfreeze()
        if was_enabled:
            gc.enable()


def load_plain(rows: PlainRows, table: PlacementTable, store: Store, clock_s: float) -> int:
    """Load them, the local clock being `clock_s` ahead of Unix time; returns their highest number,
    0 of none."""
    if not rows.keys:
        return 0
    records = table.load(rows, clock_s)
    places = np.array(rows.lowest, np.float64)
    places[~rows.points] = np.nan
    hidden = rows.kinds[rows.hidden].tolist()
    store.load_plain(
        rows.keys, records, rows.ttl_ms / 1000 + clock_s, places, rows.columns,
        {kind: hidden.count(at) for at, kind in enumerate(KINDS)},
    )  # fmt: skip
    return int(rows.numbers.max())
