"""Which links a peer closes: the idle ones, and the least recently used of too many."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from meteor.links.link_keeping import IDLE_S, LinkUse, NamedLinks, surplus

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


steps = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3), st.booleans()), max_size=20)


@given(steps)
def test_a_link_is_found_under_all_its_names_until_it_is_removed_or_replaced(
    drawn: list[tuple[str, int, bool]],
) -> None:
    links: NamedLinks[int] = NamedLinks()
    twin: dict[str, int] = {}
    for name, link, added in drawn:
        if added:
            before = twin.get(name)
            twin = {n: link if known == before else known for n, known in twin.items()}
            twin[name] = link
            links.add(name, link)
        else:
            twin = {n: known for n, known in twin.items() if known != link}
            links.remove(link)
        assert {n: links.find(n) for n in "abcd"} == {n: twin.get(n) for n in "abcd"}
        assert sorted(links) == sorted(set(twin.values()))
        assert len(links) == len(set(twin.values()))
