"""The ring pointers of one member, and the operations of Zave's corrected Chord upon them.

Law of this file: pure decisions, each one atomic step; the conversations that lead to them are in
`maintenance`, `joining` and `forming`.  Every change is told once, after it is complete.  Only
successor lists carry the proof; predecessors say which arc is ours, fingers make lookups short.
literature.md section 3.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from chord.finger_table import FingerTable
from chord.identifiers import Arc, between
from chord.messages import Neighbours
from chord.routing import RoutingTable
from chord.successor_list import UNKNOWN_VERSION, SuccessorList, passed_over

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from chord.contact import Contact
    from chord.finger_table import Finger

ArcChanged = Callable[[Arc | None, Arc | None], None]
"""Told the arc before and after; None while not a member."""


class RingPointers:
    """Predecessor, successor list and fingers of `own`.

    `absent` holds contacts known to be gone: they are not taken over from older lists.  `skipped`
    is told of those whom an adopted list passes over."""

    __slots__ = (
        "_absent",
        "_arc_changed",
        "_list_changed",
        "_skipped",
        "_table",
        "bits",
        "fingers",
        "joined",
        "own",
        "predecessor",
        "successors",
    )

    def __init__(
        self,
        own: Contact,
        bits: int,
        successor_count: int,
        absent: Collection[Contact],
        arc_changed: ArcChanged,
        list_changed: Callable[[], None],
        skipped: Callable[[tuple[Contact, ...]], None],
    ) -> None:
        self.own = own
        self.bits = bits
        self.joined = False
        self.predecessor: Contact | None = None
        self.successors = SuccessorList(own.id, successor_count)
        self.fingers = FingerTable()
        self._absent = absent
        self._arc_changed = arc_changed
        self._list_changed = list_changed
        self._skipped = skipped
        self._table: RoutingTable | None = None

    # What they say

    @property
    def arc(self) -> Arc | None:
        """What this member owns; the whole ring when alone, None when not a member."""
        if not self.joined:
            return None
        return Arc(self.own.id if self.predecessor is None else self.predecessor.id, self.own.id)

    @property
    def alone(self) -> bool:
        """Whether this is the only member that it knows of."""
        return self.joined and self.predecessor is None

    @property
    def table(self) -> RoutingTable:
        """The routing table made of these pointers."""
        if self._table is None:
            self._table = RoutingTable(
                self.own.id, self.bits, self.successors.contacts, self.fingers.entries
            )
        return self._table

    def neighbours(self) -> Neighbours:
        """Predecessor and successor list, as they are told to others."""
        successors = self.successors
        return Neighbours(self.own, self.predecessor, successors.contacts, successors.version)

    def precedes(self, key: int) -> bool:
        """Whether this member is the last one before the key: it lies within (own, successor]."""
        first = self.successors.first
        return first is None or between(self.own.id, key, first.id) or key == first.id

    def has(self, contact: Contact) -> bool:
        """Whether any pointer names the contact."""
        return (
            (self.predecessor is not None and self.predecessor.id == contact.id)
            or contact in self.successors
            or any(finger.contact.id == contact.id for finger in self.fingers.entries)
        )

    def may_name(self, contact: Contact) -> bool:
        """Whether a pointer may name it, whoever says so: nobody reaches a client, or who has not
        said his identifier, nor finds out that they are gone; and the ring's are so wide."""
        return contact.known and bool(contact.address) and not contact.id >> self.bits

    def _present(self, contacts: Iterable[Contact]) -> list[Contact]:
        """Those whom pointers may name and who are not known to be gone."""
        return [c for c in contacts if c not in self._absent and self.may_name(c)]

    # Becoming and ceasing to be a member

    def found(self) -> None:
        """Be the first member of a new ring."""
        self.install(None, ())

    def install(
        self,
        predecessor: Contact | None,
        successors: Sequence[Contact],
        fingers: tuple[Finger, ...] = (),
    ) -> None:
        """Point at these, all at once, as a member."""
        with self._change():
            self.joined = True
            self.predecessor = predecessor
            self.successors.install(successors)
            self.fingers.install(fingers)

    def join_behind(self, member: Contact, successors: Sequence[Contact]) -> None:
        """Zave's join: `member` precedes us, and its list becomes ours in one step."""
        self.install(member, self._present(successors) or [member])

    def leave(self) -> None:
        """Be no member any more."""
        with self._change():
            self.joined = False
            self.predecessor = None
            self.successors.install(())
            self.fingers.install(())

    # Zave's operations

    def adopt(self, head: Contact, tail: Sequence[Contact], version: int) -> bool:
        """Stabilise: `head`, alive, is our successor and `tail` its list of that version."""
        before = self.successors.contacts
        with self._change():
            present = self._present(tail)
            if self.predecessor is None:
                self.predecessor = head  # alone until now: it is both our neighbours
            # What we left out may come back: then the same list must be looked at again.
            seen = version if len(present) == len(tail) else UNKNOWN_VERSION
            changed = self.successors.adopt(head, present, seen)
        if changed:
            now, limit = self.successors.contacts, self.successors.limit
            missing = [
                contact
                for contact in passed_over(self.own.id, before, now, limit)
                if contact not in self._absent
            ]
            if missing:
                self._skipped(tuple(missing))
        return changed

    def improves_successor(self, candidate: Contact) -> bool:
        """Whether the candidate lies between us and our successor."""
        first = self.successors.first
        nearer = first is None or between(self.own.id, candidate.id, first.id)
        return nearer and self.may_name(candidate)

    def rectify(self, notifier: Contact) -> bool:
        """A member takes us for its successor: whether it is our predecessor now.

        It becomes so if it is nearer than the old one, or if that one is gone: so may be who had
        its identifier at another address, and of two that live the first stays."""
        old = self.predecessor
        if old is not None and (old.id, old.address) == (notifier.id, notifier.address):
            self.predecessor = notifier  # perhaps a new incarnation of it
            return True
        if notifier.id == self.own.id:
            return False
        nearer = old is None or between(old.id, notifier.id, self.own.id)
        if not nearer and old not in self._absent:
            return False
        with self._change():
            self.predecessor = notifier
            if self.successors.first is None:
                self.successors.install((notifier,))
        return True

    def drop(self, contact: Contact) -> bool:
        """A contact is gone: lose it from list and fingers; whether any pointer named it.

        The predecessor stays until a member notifies us, as our arc grows only then."""
        named = self.predecessor is not None and self.predecessor.ended_with(contact)
        with self._change():
            named = self.fingers.drop(contact) or named
            named = self.successors.drop(contact) or named
            if not self.successors and self.joined:
                self._fall_back()
        return named

    def bypass(
        self, leaver: Contact, predecessor: Contact | None, successors: Sequence[Contact]
    ) -> None:
        """A neighbour leaves and names its own pointers: close the gap with them."""
        with self._change():
            first = self.successors.first
            if first is not None and first.id == leaver.id:
                self.successors.install(self._present(successors))
            self.successors.drop(leaver)
            self.fingers.drop(leaver)
            if self.predecessor is not None and self.predecessor.id == leaver.id:
                others = () if predecessor is None else self._present((predecessor,))
                if others and others[0].id not in (self.own.id, leaver.id):
                    self.predecessor = others[0]
                elif len(self.successors) == 0:
                    self.predecessor = None
            if not self.successors and self.joined:
                self._fall_back()

    def _fall_back(self) -> None:
        """No successor is left (more died at once than the list is long): go on with the nearest
        contact that we know of, or alone."""
        others = [finger.contact for finger in self.fingers.entries]
        if self.predecessor is not None:
            others.append(self.predecessor)
        for contact in others:
            if contact not in self._absent and contact.id != self.own.id:
                self.successors.install((contact,))
                return
        self.predecessor = None

    # Fingers

    def set_finger(self, level: int, finger: Finger) -> bool:
        """Fill one level of the finger table; whether the contact changed."""
        self._table = None
        return self.fingers.put(level, finger)

    def note_finger_predecessor(self, level: int, predecessor_id: int | None) -> None:
        """A finger has said who precedes it."""
        self._table = None
        self.fingers.note_predecessor(level, predecessor_id)

    def cut_fingers(self, level: int) -> bool:
        """Forget fingers of that level and above; whether there were any."""
        self._table = None
        return self.fingers.cut(level)

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Tell what changed once the change is complete, however many steps it has."""
        arc, version = self.arc, self.successors.version
        yield
        self._table = None
        if self.arc != arc:
            self._arc_changed(arc, self.arc)
        if self.successors.version != version:
            self._list_changed()
