"""A delete whose time is up takes nothing any more: its client was told, and goes on."""

from __future__ import annotations

from tests.meteor.copies_world import ask, build

COUNT = 100


def test_a_delete_takes_nothing_after_its_time() -> None:
    """It takes sixteen records at a time.  Its client had been told that the rest is missing, and
    posted one of them again, with new content: acknowledged, and taken a moment later."""
    overlay = build(1, 1, disk_s=0.1)
    client = overlay.client()

    for number in range(COUNT):
        selector = f"type=alarm temperature={number % 50}"
        overlay.run(client.store(selector, b"x", ttl=7200, id=f"r{number}"))
    answer = overlay.run(client.delete_data("type=alarm", allow_partial=True, timeout=0.35))
    assert not answer.complete
    left, _ = ask(overlay, client)
    assert left
    last = max(left, key=lambda one: int(one.split(".")[0][1:]))  # the one that it comes to last
    again = overlay.run(client.replace(last, "type=alarm temperature=60", b"new", ttl=7200))
    overlay.run_for(10.0)
    found, complete = ask(overlay, client)
    assert complete
    assert again.id in found
