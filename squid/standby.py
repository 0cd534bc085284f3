"""Asking in a silent owner's stead: whom, in which order, and for how long each.

Law of this file: small decisions over what the runtime and the ring know; nothing is sent here.
Only questions go to others than the owner: whoever keeps a copy may answer them, once it has made
sure that its copy still counts (DESIGN section 5).  Falsely taken for silent, an owner costs one
message more, never an answer: the origin's ledger counts every part once.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from chord import ChordNode, Contact, Runtime

SILENT_S: Final = 2.0
"""How long somebody is asked last who did not answer: until the ring has mended, or it is back."""
SILENT_MAX: Final = 256
PATIENCE_S_MIN: Final = 0.02
"""Shorter than anybody notices, longer than a busy loop takes for a turn."""
PATIENCE_S_UNKNOWN: Final = 0.25
"""For a link that is not measured: a dial is part of it.  Where other links are measured, four of
their waits are as much, but not less than a loop takes that has to open it, too:"""
PATIENCE_S_DIAL: Final = 0.1
DIAL_ROUND_TRIPS: Final = 4


class Standby:
    """What one peer remembers of owners that were silent."""

    def __init__(self, node: ChordNode, runtime: Runtime) -> None:
        self._node, self._runtime = node, runtime
        self._silent: OrderedDict[int, tuple[float, tuple[Contact, ...]]] = OrderedDict()
        self._usual_s = PATIENCE_S_UNKNOWN
        """What the link measured last takes at most."""

    def order(self, owner: Contact, key: int) -> list[tuple[Contact, bool]]:
        """Whom to ask, and whether in the owner's stead: the owner first, then its heirs, and
        whoever is silent last.  What a silent heir would inherit goes to its own heirs: of two
        neighbours that fell at once the second names who has the content of both."""
        heirs: dict[int, Contact] = {}
        for heir in self._heirs(owner, key):
            beyond = self._named(heir) if self.is_silent(heir) else ()
            heirs |= {one.id: one for one in (heir, *beyond) if one.id != owner.id}
        line = [(one, True) for one in heirs.values()]
        line.insert(len(line) if self.is_silent(owner) else 0, (owner, False))
        return sorted(line, key=lambda one: self.is_silent(one[0]))

    def _heirs(self, owner: Contact, key: int) -> tuple[Contact, ...]:
        """Who would inherit the arc of a key, as the owner has said, or else the ring.  Where
        somebody else has said since that it is his, oneself perhaps, the heirs that he named would
        inherit it from him, and have nothing yet: he is the one to ask."""
        known = self._node.owner_of(key)
        if known is None:
            return self._named(owner)
        if known.owner.id == owner.id:
            return known.heirs or self._named(owner)
        return (*self._named(owner), known.owner)

    def _named(self, owner: Contact) -> tuple[Contact, ...]:
        """The heirs of somebody silent, as far as the ring has named them."""
        return self._silent.get(owner.id, (0.0, ()))[1]

    def is_silent(self, contact: Contact) -> bool:
        """Whether somebody did not answer a short while ago, or nothing comes over its link."""
        if contact.id in self._silent:
            since_s, _ = self._silent[contact.id]
            if self._runtime.now() - since_s < SILENT_S:
                return True
        return self._runtime.suspects(contact)

    def patience_s(self, contact: Contact) -> float:
        """How long to wait for one before the next is asked."""
        link = self._runtime.link(contact)
        late_s = 2 * self._runtime.lateness()
        if link.srtt_s <= 0:
            dial_s = max(PATIENCE_S_DIAL, DIAL_ROUND_TRIPS * self._usual_s, late_s)
            return min(dial_s, PATIENCE_S_UNKNOWN)
        self._usual_s = link.srtt_s + 4 * link.rttvar_s
        return max(PATIENCE_S_MIN, self._usual_s, late_s)

    def silent(self, owner: Contact, heirs: tuple[Contact, ...] = ()) -> None:
        """Somebody did not answer; the ring may have named who would inherit its arc."""
        _, known = self._silent.pop(owner.id, (0.0, ()))
        self._silent[owner.id] = self._runtime.now(), heirs or known
        while len(self._silent) > SILENT_MAX:
            self._silent.popitem(last=False)

    def heard(self, owner: Contact) -> None:
        """It answered."""
        self._silent.pop(owner.id, None)
