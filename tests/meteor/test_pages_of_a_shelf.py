"""What fills a copy is all of a shelf, however many pages that takes."""

from __future__ import annotations

from meteor.keeping.readable_shelf import PAGE_BYTES
from tests.meteor.copies_world import EVERYTHING, assert_whole_within, build

SIZE = PAGE_BYTES // 3


def test_all_records_come_page_by_page_and_none_twice() -> None:
    overlay = build(3, 3)
    assert_whole_within(overlay)
    client = overlay.client()
    for number in range(10):
        overlay.run(client.store(f"type=light temperature={number}", b"x" * SIZE, ttl=7200))
    shelf = overlay.peers[0].core.shelf
    pages = list(shelf.pages(EVERYTHING))
    ids = [one.id for _, carried in pages for one in carried]
    assert len(pages) > 2
    assert sorted(ids) == sorted(placed.carried.id for placed in shelf.table)
    assert len(ids) == 10
    assert {interval for interval, _ in pages} == set(EVERYTHING)
