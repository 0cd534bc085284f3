"""A client that reaches both sides of a ring which is cut in two is on its own peer's side only."""

from __future__ import annotations

import random

import pytest

from meteor import Client, MeteorError, Profile, profile
from meteor.client.config import ClientConfig
from meteor.client.shortcuts import POSTS
from meteor.wire.messages import PostReply
from sim.overlay import Overlay
from tests.meteor.building import draw_data
from tests.meteor.copies_world import assert_whole_within, build, primary_of, seeds

PEERS = 9
APART_S = 12.0
QUIET_S = 6.0
"""A client that was silent for so long after the cut finds two rings, and the owner on the other
side without those copies that its own side has."""
HELD_S = 8.0
STEP_S = 0.02
HEALED_WITHIN_S = 60.0


class Sides:
    """A client, with the peer that it is linked to on one side, and the owner of what it stores on
    the other one; and who asks that peer what there is."""

    def __init__(self, seed: int, config: ClientConfig | None = None) -> None:
        self.overlay, self.drawn = build(seed, PEERS, disk_s=0.001), random.Random(seed)
        self.reading: Profile = profile(draw_data(self.drawn))
        first = self.overlay.run(self.overlay.client().store(self.reading, b"0", ttl=7200))
        self.acknowledged, self.open = {first.id}, set[str]()
        self.owner = primary_of(self.overlay, first.id)
        peers = self.drawn.sample(self.overlay.living, PEERS)
        peers.remove(self.owner)
        self.count = self.drawn.randrange(2, PEERS - 2)
        self.left, self.right = peers[: self.count], [*peers[self.count :], self.owner]
        number = self.overlay.living.index(self.left[0])
        self.client = self.overlay.client(peer=number, config=config)
        self.judge = self.overlay.client(peer=number, config=ClientConfig(shortcuts_max=0))
        self.partial = 0

    @property
    def straight(self) -> int:
        """How many posts went straight."""
        return self.client._session._requests.shortcuts.posts

    def post(self, timeout_s: float = 2.0) -> None:
        """One more, which may be acknowledged."""
        stem = f"x{len(self.acknowledged) + len(self.open)}"
        store = self.client.store(self.reading, b"x", id=stem, ttl=7200, timeout=timeout_s)
        try:
            self.acknowledged.add(self.overlay.run(store).id)
        except MeteorError:
            self.open.add(stem)

    def assert_not_silently_partial(self, client: Client, timeout_s: float = 2.0) -> bool:
        """What the client's own peer says of it; whether that is complete."""
        answer = client.retrieve(self.reading, allow_partial=True, timeout=timeout_s)
        found = {match.id for match in self.overlay.run(answer.all())}
        assert {one.partition(".")[0] for one in found - self.acknowledged} <= self.open
        if answer.complete:
            assert found >= self.acknowledged, f"{len(self.acknowledged - found)} silently absent"
        return answer.complete

    def go_on_for(self, seconds: float) -> None:
        """Store, and look from both clients after each."""
        overlay = self.overlay
        ends_s = overlay.kernel.now() + seconds
        while overlay.kernel.now() < ends_s:
            self.post()
            for client in (self.judge, self.client):
                self.partial += not self.assert_not_silently_partial(client)
            overlay.run_for(STEP_S)


def cut(overlay: Overlay, sides: Sides, how: str) -> None:
    """In two; or only what the own side says is lost, or only what it hears."""
    left, right = [one.contact for one in sides.left], [one.contact for one in sides.right]
    if how == "deaf":
        left, right = right, left
    overlay.faults.partition(left, right, one_way=how != "apart")


@pytest.mark.parametrize("seed", seeds(1, 40))
@pytest.mark.parametrize("how", ["apart", "dumb", "deaf"])
def test_what_is_acknowledged_is_found_on_the_side_of_the_own_peer(how: str, seed: int) -> None:
    sides = Sides(seed)
    overlay = sides.overlay
    for _ in range(3 * POSTS):
        sides.post()
    assert sides.straight, "it never went straight"
    cut(overlay, sides, how)
    before = sides.straight
    overlay.run_for(sides.drawn.choice([0.0, QUIET_S]))
    sides.go_on_for(APART_S - QUIET_S)
    print(f"{how}: {sides.count} of {PEERS}, {sides.straight - before} straight while cut, "
          f"{len(sides.acknowledged)} acknowledged, {len(sides.open)} not, "
          f"{sides.partial} answers partial")  # fmt: skip
    overlay.faults.clear()
    assert_whole_within(overlay, HEALED_WITHIN_S)
    assert sides.assert_not_silently_partial(sides.judge), "incomplete after all is one again"
    assert sides.assert_not_silently_partial(sides.client)


@pytest.mark.parametrize("seed", seeds(3, 20))
def test_an_own_peer_that_was_held_does_not_vouch_by_what_lay_there(seed: int) -> None:
    """The owner was heard as it went on, with what it had sent before the cut."""
    sides = Sides(seed)
    overlay, own_peer = sides.overlay, sides.left[0]
    for _ in range(3 * POSTS):
        sides.post()
    own_peer.pause()
    sides.owner.runtime.send(own_peer.contact, PostReply("x", True, (), 0, 0))
    overlay.run_for(STEP_S)
    cut(overlay, sides, "apart")
    overlay.run_for(HELD_S)
    answer = sides.client.retrieve(sides.reading, allow_partial=True, timeout=60)
    asked = overlay.kernel.spawn(answer.all())
    overlay.run_for(STEP_S)
    own_peer.resume()
    overlay.kernel.run_until(asked)
    sides.post()
    sides.assert_not_silently_partial(sides.judge, HELD_S + 10.0)
