"""What a delegate may not post he may not touch either: content that says two things of one place
lies within no selector for one of them.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from meteor import ActingFor, Client, Refused
from sim.clock import EPOCH_S
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB
from tests.meteor.security.test_policy_overlay import QUOTAS, refused_rule

LATER = datetime.fromtimestamp(EPOCH_S + 3600, UTC)
COLD, BOTH = "type=light temperature=6", "type=light temperature=6 temperature=99"
ACTIONS = ("cancel", "delete_data", "renew", "replace", "store")


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=5, space=SPACE, seed=3, policy=QUOTAS)


@pytest.fixture
def alice(overlay: Overlay) -> Client:
    return overlay.client(peer=2, identity=ALICE)


@pytest.fixture
def bob(overlay: Overlay) -> Client:
    words = ALICE.delegate(BOB.key, ACTIONS, until=LATER, selector="type=light temperature<=50")
    return overlay.client(peer=2, identity=ActingFor(BOB, words))


def data_of(overlay: Overlay, client: Client) -> list[bytes]:
    return sorted(match.data for match in overlay.run(client.retrieve("type=light").all()))


@pytest.mark.parametrize("verb", ["cancel", "renew", "replace", "store"])
def test_by_its_id(overlay: Overlay, alice: Client, bob: Client, verb: str) -> None:
    full_id = overlay.run(alice.store(BOTH, b"both")).id
    asked = {
        "cancel": lambda: bob.cancel(full_id),
        "renew": lambda: bob.renew(full_id, ttl=5),
        "replace": lambda: bob.replace(full_id, COLD, b"his"),
        "store": lambda: bob.store(BOTH, b"his", id=full_id.partition(".")[0]),
    }
    with pytest.raises(Refused) as refused:
        overlay.run(asked[verb]())
    assert refused.value.rule == "delegation"
    overlay.run(until=overlay.kernel.now() + 10.0)
    assert data_of(overlay, alice) == [b"both"]


@pytest.mark.parametrize("mode", ["within", "overlap"])
def test_by_a_selector(overlay: Overlay, alice: Client, bob: Client, mode: str) -> None:
    overlay.run(alice.store(BOTH, b"both"))
    overlay.run(alice.store(COLD, b"cold"))
    selector = "type=light temperature<=50"
    assert overlay.run(bob.delete_data(selector, mode=mode, dry_run=True)).matches == 1
    assert overlay.run(bob.delete_data(selector, mode=mode)).matches == 1
    assert data_of(overlay, alice) == [b"both"]
    overlay.run(alice.store(COLD, b"again"))  # her quota allows two, and counts that one on
    assert refused_rule(overlay, alice.store(COLD, b"third")) == "few"
    assert overlay.run(alice.delete_data(selector, mode=mode)).matches == 2


@pytest.mark.parametrize("delay_s", [0.002, 0.005, 0.01, 0.02, 0.03, 0.04])
@pytest.mark.parametrize("seed", range(1, 5))
def test_what_he_found_and_may_not_touch_any_more_holds_nothing_else_up(
    seed: int, delay_s: float
) -> None:
    """What overlaps is found first, and cancelled one by one: the owner's new version of one of
    them was refused, and with it all that was not cancelled yet."""
    overlay = Overlay(peers=5, space=SPACE, seed=seed)
    alice = overlay.client(identity=ALICE)
    words = ALICE.delegate(BOB.key, ["delete_data"], until=LATER, selector="type=light state=off")
    bob = overlay.client(peer=1, identity=ActingFor(BOB, words))
    for number in range(20):
        profile = f"type=light temperature={number} state=off"
        overlay.run(alice.store(profile, id=f"light-{number}"))

    async def switched_on() -> None:
        await overlay.peers[0].runtime.sleep(delay_s)
        await alice.store("type=light temperature=17 state=on", b"on", id="light-17")

    switching = overlay.kernel.spawn(switched_on())
    deleted = overlay.run(bob.delete_data("type=light state=off", mode="overlap"))
    overlay.kernel.run_until(switching)
    assert (deleted.matches, deleted.complete) == (19, True)
    assert data_of(overlay, alice) == [b"on"]
