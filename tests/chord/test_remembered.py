"""The memory of lost contacts: bounded in number and time, everybody probed in turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chord import Contact
from chord.remembered import Remembered, distinct

OWN_ID = 0
LIMIT, MEMORY_S = 4, 10.0

contacts = st.builds(
    lambda i, incarnation: Contact(i, f"peer-{i}:1", incarnation),
    st.integers(0, 8),
    st.integers(0, 2),
)
steps = st.lists(
    st.tuples(st.sampled_from(["add", "discard", "probe"]), contacts, st.floats(0, 3)), max_size=60
)


class DumbMemory:
    """A list of (lost at, contact) in the order of losing."""

    def __init__(self) -> None:
        self.kept: list[tuple[float, Contact]] = []

    def add(self, contact: Contact, now: float) -> bool:
        known = [c for _, c in self.kept if c.id == contact.id]
        if contact.id == OWN_ID or any(c.incarnation >= contact.incarnation for c in known):
            return False
        self.discard(contact.id)
        self.kept = [*self.kept, (now, contact)][-LIMIT:]
        return not known

    def discard(self, contact_id: int) -> None:
        self.kept = [(at, c) for at, c in self.kept if c.id != contact_id]

    def expire(self, now: float) -> None:
        self.kept = [(at, c) for at, c in self.kept if now - at < MEMORY_S]


@given(steps)
def test_it_remembers_what_the_dumb_memory_does(script: list[tuple[str, Contact, float]]) -> None:
    memory, twin, now = Remembered(OWN_ID, LIMIT, MEMORY_S), DumbMemory(), 0.0
    for what, contact, passed_s in script:
        now += passed_s
        if what == "add":
            assert memory.add(contact, now) == twin.add(contact, now)
        elif what == "discard":
            memory.discard(contact.id)
            twin.discard(contact.id)
        else:
            twin.expire(now)
            probed = memory.next_to_probe(now)
            assert (probed is None) == (not twin.kept)
            assert probed is None or probed in [c for _, c in twin.kept]
        assert memory.contacts == tuple(c for _, c in reversed(twin.kept))
        assert len(memory) == len(twin.kept)
        assert all(c.id in memory for _, c in twin.kept)


@given(st.sets(st.integers(1, 50), min_size=1, max_size=LIMIT), st.integers(1, 3))
def test_each_is_probed_before_any_is_probed_again(ids: set[int], rounds: int) -> None:
    memory = Remembered(OWN_ID, LIMIT, MEMORY_S)
    for contact_id in sorted(ids):
        memory.add(Contact(contact_id, f"peer-{contact_id}:1"), 0.0)
    for _ in range(rounds):
        probed = [memory.next_to_probe(1.0) for _ in ids]
        assert {contact.id for contact in probed if contact is not None} == ids


def test_who_was_lost_last_is_probed_next() -> None:
    memory = Remembered(OWN_ID, LIMIT, MEMORY_S)
    for contact_id in (1, 2, 3):
        memory.add(Contact(contact_id, f"peer-{contact_id}:1"), 0.0)
    probed = memory.next_to_probe(0.0)
    assert probed is not None
    assert probed.id == 3


def test_clients_and_strangers_are_not_remembered() -> None:
    memory = Remembered(OWN_ID, LIMIT, MEMORY_S)
    assert not memory.add(Contact(7, ""), 0.0)
    assert not memory.add(Contact.at("somewhere:1"), 0.0)
    assert not Remembered(OWN_ID, 0, MEMORY_S).add(Contact(7, "peer-7:1"), 0.0)
    assert memory.next_to_probe(0.0) is None


def test_contacts_are_told_apart_by_address() -> None:
    own, one, two = Contact(1, "own:1"), Contact(2, "two:1"), Contact(3, "three:1")
    given_twice = [one, own, two, Contact.at("two:1"), Contact(4, "")]
    assert distinct(given_twice, own) == (one, two)
