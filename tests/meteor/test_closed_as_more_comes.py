"""Closing a standing retrieve that was attached to, while it is being replaced: nothing of what
lives, which comes as pages, is handed over any more."""

from __future__ import annotations

from contextlib import suppress

from meteor import Interest, MeteorError
from tests.meteor.test_marks_of_several_holders import CELL, Slow

ELSEWHERE = CELL.replace("type=a", "type=b")


def test_nothing_comes_once_it_is_closed() -> None:
    slow = Slow(3)
    overlay, client, poster = slow.overlay, slow.client, slow.poster
    for profile in (CELL, ELSEWHERE):
        overlay.run(poster.store(profile, b"x", ttl=7200))
    answer = poster.retrieve(CELL, ttl=600, id="stands")
    answer.begin()
    overlay.run_for(1.0)
    assert answer._standing is not None
    id = answer._standing.id

    async def attached() -> Interest:
        return await client.attach(id)

    interest = overlay.run(attached())

    async def replace() -> None:
        with suppress(MeteorError):
            await interest.replace(ELSEWHERE)

    assert interest.take_now() is not None
    overlay.faults.clog(slow.matcher.contact, slow.copy.contact, 0.5)
    overlay.kernel.spawn(replace())
    overlay.run_for(0.02)
    overlay.run(interest.close())
    overlay.run_for(5.0)
    assert interest.take_now() is None
