"""Interests that are brought to another link: refused at first, partly, or late."""

from __future__ import annotations

from typing import Any

from chord import replace
from meteor import Client, parse_policy
from sim.overlay import Overlay
from tests.meteor.building import SPACE

SLOWLY = parse_policy("""
default = "allow"
[[quotas]]
name = "slowly"
who = ["anyone"]
posts_per_second = 2
""")


def test_what_came_too_fast_to_be_attached_is_attached_a_little_later() -> None:
    """A client with many interests comes to another peer: it brings all of them at once, and its
    quota lets two pass.  The others were not tried again: not before a third of their ttl was over,
    or ever where they are not kept alive."""
    overlay = Overlay(peers=6, space=SPACE, seed=5, policy=SLOWLY)
    client = overlay.client(peer=2)
    interests = []
    for number in range(6):
        opened = _opened(client, f"type=alarm temperature={number * 10}", keep_alive=False)
        interests.append(overlay.run(opened))
        overlay.run_for(1.0)
    overlay.peers[2].crash()
    overlay.run_for(60.0)
    teller = overlay.client(peer=1)
    for number, interest in enumerate(interests):
        overlay.run(teller.store(f"type=alarm temperature={number * 10}", b"new"))
        assert overlay.run(interest.recv(timeout=20)).data == b"new"
        overlay.run_for(1.0)


def test_what_moved_to_a_part_of_its_region_is_soon_attached_to_all() -> None:
    overlay = Overlay(peers=6, space=SPACE, seed=5, copies=1)
    client = overlay.client(peer=2)
    before = overlay.peers[:]
    interest = overlay.run(
        _opened(client, "type=light temperature=1", keep_alive=False, allow_partial=True)
    )
    for peer in before[3:]:
        peer.crash()
    overlay.run(interest.replace("type=alarm temperature=50..60"))
    assert interest.missing
    for peer in before[3:]:
        overlay.run(overlay.restart(peer))
    overlay.run_for(60)
    assert interest.missing == ()
    overlay.run(overlay.client(peer=1).store("type=alarm temperature=55", b"new"))
    assert overlay.run(interest.recv(timeout=20)).data == b"new"


def test_what_is_not_kept_alive_runs_out_in_its_time_however_slowly_it_is_attached() -> None:
    """Every answer took as long as it may; each time it lived so much longer."""
    overlay = Overlay(peers=6, space=SPACE, seed=5)
    client = overlay.client(peer=2)
    session = client._session
    interest = overlay.run(
        _opened(client, "type=alarm temperature=50..60", ttl=60, keep_alive=False)
    )
    amend = session.amend

    async def slow(verb: str, id: str, timeout_s: float, **fields: Any) -> Any:
        reply = await amend(verb, id, timeout_s, **fields)
        await session.runtime.sleep(9.0)
        return replace(reply, complete=False, missing=((0, 1),))

    async def slow_post(draft: Any, timeout_s: float, *more: Any, **options: Any) -> Any:
        reply = await post(draft, timeout_s, *more, **options)
        await session.runtime.sleep(9.0)
        return replace(reply, complete=False, missing=((0, 1),))

    post = session.post
    session.amend, session.post = slow, slow_post  # type: ignore[method-assign,assignment]
    session.spawn(interest._attachment.reattach())
    overlay.run_for(62.0)
    assert interest.state == "expired"


async def _opened(client: Client, selector: str, **options: Any) -> Any:
    return await client.notify_data(selector, **{"ttl": 3600, **options})
