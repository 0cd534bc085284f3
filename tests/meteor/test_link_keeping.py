"""Which links a peer closes: the idle ones, and the least recently used of too many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meteor.links.link_keeping import IDLE_S, LinkUse, surplus

uses = st.lists(st.tuples(st.floats(0, 200), st.booleans()), max_size=20).map(
    lambda drawn: [LinkUse(f"peer:{i}", used, busy) for i, (used, busy) in enumerate(drawn)]
)


@given(uses, st.integers(0, 12))
def test_only_unused_links_are_closed_and_the_longest_unused_first(
    drawn: list[LinkUse], kept_max: int
) -> None:
    now_s = 200.0
    closed = surplus(drawn, now_s, kept_max)
    by_address = {use.address: use for use in drawn}
    assert not any(by_address[address].busy for address in closed)
    ages = [by_address[address].used_s for address in closed]
    assert ages == sorted(ages)
    for use in drawn:
        if not use.busy and now_s - use.used_s >= IDLE_S:
            assert use.address in closed
        elif use.address in closed:
            newer = [other for other in drawn if other.used_s >= use.used_s or other.busy]
            assert len(newer) > kept_max
    quiet = [use for use in drawn if not use.busy]
    assert len(drawn) - len(closed) <= max(kept_max, len(drawn) - len(quiet))
