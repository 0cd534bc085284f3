"""What a member remembers of its ring over a restart, and when that is worth keeping again.

Law of this file: values, and one small conversation that lets changes gather; where the state is
kept is its taker's business (`meteor` has a journal).  DESIGN section 2: lists and ids are
journalled, a restarted peer resumes under its id.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chord.contact import Contact
from chord.remembered import distinct

if TYPE_CHECKING:
    from chord.config import ChordConfig
    from chord.pointers import RingPointers
    from chord.remembered import Remembered
    from chord.runtime import Runtime, Task

CONTACTS_MAX = 64
"""Contacts kept beside the ring pointers."""


@dataclass(frozen=True, slots=True)
class RingState:
    """A member's pointers at one moment; while a ring is forming its successors are all members."""

    contact: Contact
    """The member itself, in the incarnation that kept this."""
    predecessor: Contact | None
    """None for a member alone."""
    successors: tuple[Contact, ...]
    """Nearest first."""
    others: tuple[Contact, ...] = ()
    """Whom else it knew: fingers, and those that it had lost."""

    @property
    def contacts(self) -> tuple[Contact, ...]:
        """Everybody that it names, those nearest on the ring first."""
        before = () if self.predecessor is None else (self.predecessor,)
        return distinct(
            (*self.successors[:1], *before, *self.successors, *self.others), self.contact
        )

    @property
    def alone(self) -> bool:
        """Whether it knew of nobody: the founder of a ring that nobody has joined."""
        return not self.contacts


class StateKeeper:
    """Gives the ring's state to `keep` when it has changed, the first at once, later ones after
    as long as the configuration says."""

    def __init__(
        self,
        runtime: Runtime,
        config: ChordConfig,
        pointers: RingPointers,
        remembered: Remembered,
        keep: Callable[[RingState], None] | None,
    ) -> None:
        self._runtime = runtime
        self._config = config
        self._pointers = pointers
        self._remembered = remembered
        self._keep = keep
        self._gathering: Task[None] | None = None
        self._kept: RingState | None = None

    def changed(self) -> None:
        """Pointers or memory have changed."""
        if self._keep is None or not self._pointers.joined:
            return
        if self._gathering is None or self._gathering.done():
            pause_s = 0.0 if self._kept is None else self._config.state_interval_s
            self._gathering = self._runtime.spawn(self._gather(pause_s))

    @property
    def state(self) -> RingState:
        """What there is to keep now."""
        pointers = self._pointers
        fingers = (finger.contact for finger in pointers.fingers.entries)
        others = distinct((*fingers, *self._remembered.contacts), pointers.own)
        return RingState(
            pointers.own,
            pointers.predecessor,
            pointers.successors.contacts,
            others[:CONTACTS_MAX],
        )

    async def _gather(self, pause_s: float) -> None:
        await self._runtime.sleep(pause_s)
        self.keep_now()

    def keep_now(self) -> None:
        """Give what there is, if that has changed: who leaves has no later."""
        state = self.state
        if self._keep is not None and self._pointers.joined and state != self._kept:
            self._kept = state
            self._keep(state)
