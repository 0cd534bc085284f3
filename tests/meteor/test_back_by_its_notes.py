"""Three peers fall one after the other, and nobody tells them of each other as they start again.

Each finds the others by the note of the ring in its journal, when it has long taken what it cannot
show as lost.  As such holdings become one, what was heard of a rival is written down late, when
part of the interval has been given away: it named what was not held any more, for ever, and the
taker was told nothing of it, where that part was lost as well.
"""

from __future__ import annotations

import random

import pytest

from meteor.keeping.views import Views
from meteor.wire.codec import wire_codec
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.overlay import Overlay, SimPeer
from tests.meteor.building import SPACE
from tests.meteor.copies_world import ask, seeds, store_some

GAP_S_MAX, APART_S_MAX = 0.03, 0.05
"""Between two falls, and between two starts."""
PATIENCE_S = 60.0
FOUND = [859]


def three(seed: int, drawn: random.Random) -> Overlay:
    """A ring of three that came one by one; the first one's part goes over the end of the curve."""
    print(f"seed {seed}")
    kernel, first = Kernel(seed), drawn.getrandbits(157)
    disk = SimDisk(kernel, write_latency_s=drawn.choice([0.003, 0.006, 0.012]))
    overlay = Overlay(
        peers=1, space=SPACE, seed=seed, kernel=kernel, disk=disk, codec=wire_codec(),
        ids=[first, first + (1 << 159), first + (3 << 158)],
    )  # fmt: skip
    overlay.run(overlay.add_peer())
    overlay.run(overlay.add_peer())
    return overlay


async def start_alone(overlay: Overlay, fallen: list[SimPeer], drawn: random.Random) -> None:
    for peer in fallen:
        await overlay.reincarnate(peer).core.start(())
        await overlay.kernel.sleep(drawn.uniform(0, APART_S_MAX))


@pytest.mark.parametrize("seed", [*FOUND, *seeds(3, 60)])
def test_whole_again_though_nobody_told_them_of_each_other(seed: int) -> None:
    drawn = random.Random(seed)
    overlay = three(seed, drawn)
    peers = list(overlay.living)
    kept = set(store_some(overlay, overlay.client(), drawn, 1))
    for peer in peers:
        peer.crash()
        overlay.run_for(drawn.uniform(0, GAP_S_MAX))
    overlay.run(start_alone(overlay, peers[::-1], drawn))
    until_s = overlay.kernel.now() + PATIENCE_S
    is_complete = False
    while not is_complete and overlay.kernel.now() < until_s:
        overlay.run_for(0.5)
        found, is_complete = ask(overlay, overlay.client())
        assert kept <= found or not is_complete
    assert is_complete, "an interval is named for ever"
    for peer in overlay.living:
        for view in peer.core.views.own.values():
            assert all(one in view.rivals for one in view.within(view.intervals).rivals)


def test_two_lives_of_a_peer_never_draw_the_same_epoch() -> None:
    """Copies may have taken what the first one tried last, of which the second one's journal says
    nothing: the same number would make one view of two."""
    lives = [*range(1024), *range(1024, 1 << 20, 1024)]  # in milliseconds, on sockets
    drawn = [Views(7 << 140, incarnation).draw_epoch() for incarnation in lives]
    assert len(set(drawn)) == len(drawn)
    assert len({epoch >> 20 for epoch in drawn}) == 1
