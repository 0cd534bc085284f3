"""Records in the form of the journal onto an empty shelf, all at once.

Law of this file: the same shelf as one by one, and nothing is looked into.  Where records live, how
they are told apart and what their profiles say goes into the tables by column; the records
themselves rest, as rows of the journal, until somebody asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from arms import Kind, Store
from meteor.keeping.placement import Key
from meteor.keeping.placement_table import PlacementTable
from meteor.keeping.plain_rows import PlainRows
from meteor.keeping.record_front import KINDS
from meteor.keeping.resting_rows import RestingRows
from squid import HilbertCurve


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a shelf begins with; made before there is one, by Unix time."""

    table: PlacementTable
    store: Store
    resting: RestingRows | None
    number: int
    """The highest of any record, 0 of none."""

    def begin(self, store: Store, clock_s: float) -> PlacementTable:
        """Let a store that is still empty have what is here, the local clock being `clock_s` ahead
        of Unix time; returns the table."""
        if self.resting is not None:
            self.resting.begin(clock_s)
        store.become(self.store, clock_s)
        return self.table


def load_plain(rows: PlainRows, curve: HilbertCurve) -> Loaded:
    """Load records at rest."""
    table, store = PlacementTable(curve), Store()
    if not rows.keys:
        return Loaded(table, store, None, 0)
    resting, numbers = table.load(rows)
    places = rows.lowest.as_floats()
    places[~rows.points] = np.nan
    hidden: dict[Kind, list[Key]] = {kind: [] for kind in KINDS}
    for at in np.flatnonzero(rows.hidden).tolist():
        hidden[KINDS[rows.kinds[at]]].append(rows.keys[at])
    store.load_plain(
        numbers, rows.keys, resting, rows.ttl_ms / 1000, places, rows.columns, hidden
    )
    return Loaded(table, store, resting, int(rows.numbers.max()))
