"""Policies at work: what an entry peer lets in, counts and says, while it runs."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import TypeVar

import pytest

from meteor import (
    Client,
    KeywordSpace,
    LocalOverlay,
    Peer,
    Policy,
    PolicyError,
    Refused,
    Word,
    parse_policy,
    profile,
)
from meteor.admission import place
from meteor.security.policy_file import LOOK_S, PolicyFile, reload_policy, watch_over
from meteor.security.quotas import Ledger
from meteor.wire.record_id import make_id
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import primary_of
from tests.meteor.security.signers import ALICE, BOB, identity

T = TypeVar("T")
A = "type=light temperature=20"

POLICY = parse_policy(f"""
default = "deny"
[groups]
staff = ["{ALICE.key}"]
[[rules]]
name = "staff"
who = ["group:staff"]
[[rules]]
name = "firemen"
who = ["signed"]
actions = ["notify_data", "retrieve"]
when = {{ situation = "emergency" }}
""")

LARGE = "".join(
    f'[[rules]]\nname = "r{at}"\nwho = ["anyone"]\nselector = "{terms}"\n'
    for at in range(200)
    for terms in [" | ".join(f"kind=a{60 * at + term}" for term in range(60))]
)
"""12,000 terms, a fifth of the largest that may be."""


def refused_rule(overlay: Overlay, posted: object) -> str:
    with pytest.raises(Refused) as refused:
        overlay.run(posted)  # type: ignore[call-overload]
    return refused.value.rule


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(peers=3, space=SPACE, seed=4, policy=POLICY)


def test_the_context_of_a_post_reaches_the_policy(overlay: Overlay) -> None:
    alice, bob = overlay.client(identity=ALICE), overlay.client(peer=1, identity=BOB)
    overlay.run(alice.store(A, b"x"))
    assert refused_rule(overlay, bob.store(A, b"y")) == "default"
    assert refused_rule(overlay, bob.retrieve("type=light").all()) == "default"
    situation = {"situation": "emergency"}
    (match,) = overlay.run(bob.retrieve("type=light", context=situation).all())
    assert match.data == b"x"
    assert refused_rule(overlay, bob.store(A, b"y", context=situation)) == "default"
    assert refused_rule(overlay, overlay.client().retrieve("type=light").all()) == "default"
    assert overlay.peers[1].core.gatekeeper.denials == {"default": 3}
    assert overlay.peers[0].core.gatekeeper.denials == {"default": 1}


def test_an_interest_that_was_let_in_lives_on(overlay: Overlay) -> None:
    """Its renewals name an id and bring no context."""
    alice, bob = overlay.client(identity=ALICE), overlay.client(peer=1, identity=BOB)
    interest = overlay.run(
        bob.notify_data("type=light", ttl=30, context={"situation": "emergency"})
    )
    overlay.run(until=overlay.kernel.now() + 100)
    overlay.run(alice.store(A, b"x"))
    assert overlay.run(interest.recv(timeout=5)).data == b"x"
    overlay.run(interest.close())


def test_whoever_may_not_post_may_not_touch_what_nobody_owns(overlay: Overlay) -> None:
    for peer in overlay.peers:
        peer.core.gatekeeper.install(Policy())
    full_id = overlay.run(overlay.client().store(A, b"x")).id
    for peer in overlay.peers:
        peer.core.gatekeeper.install(POLICY)
    assert refused_rule(overlay, overlay.client().cancel(full_id)) == "default"
    assert refused_rule(overlay, overlay.client().delete_data("type=light")) == "default"
    assert overlay.run(overlay.client(identity=ALICE).cancel(full_id)).matches == 1


def test_forgetting_is_for_who_is_allowed_to(overlay: Overlay) -> None:
    """A rule that allows posting allows it not."""
    everything = ((0, SPACE.curve.size - 1),)
    for client in (overlay.client(), overlay.client(identity=BOB)):
        assert refused_rule(overlay, client.forget(*everything)) == "default"
    assert refused_rule(overlay, overlay.client(identity=ALICE).forget(*everything)) == "not lost"
    looking = parse_policy(
        'default = "deny"\n[[rules]]\nname = "look"\nwho = ["anyone"]\nactions = ["retrieve"]'
    )
    overlay.peers[0].core.gatekeeper.install(looking)
    assert refused_rule(overlay, overlay.client(identity=ALICE).forget(*everything)) == "default"


QUOTAS = parse_policy("""
default = "allow"
[[quotas]]
name = "few"
who = ["anyone"]
profiles = 2
interests = 1
bytes = 2000
posts_per_second = 10
""")


def test_quotas_count_what_lives_by_way_of_a_peer() -> None:
    overlay = Overlay(peers=3, space=SPACE, seed=4, policy=QUOTAS)
    alice, bob = overlay.client(identity=ALICE), overlay.client(identity=BOB)
    first = overlay.run(alice.store(A, b"1", ttl=20)).id
    overlay.run(alice.store(A, b"2", id="two"))
    overlay.run(alice.store(A, b"2", id="two"))  # in its own place
    assert refused_rule(overlay, alice.store(A, b"3")) == "few"
    overlay.run(bob.store(A, b"3"))
    overlay.run(alice.notify_data("type=dark"))
    assert refused_rule(overlay, alice.notify_data("type=dim")) == "few"
    elsewhere = overlay.client(peer=1, identity=ALICE)
    overlay.run(elsewhere.store(A, b"3"))  # another entry peer counts for itself
    overlay.run(alice.cancel(first))
    third = overlay.run(alice.store(A, b"3", ttl=20)).id
    overlay.run(alice.renew(third, ttl=40))
    overlay.run(until=overlay.kernel.now() + 30)
    assert refused_rule(overlay, alice.store(A, b"4")) == "few"
    overlay.run(until=overlay.kernel.now() + 20)
    overlay.run(alice.store(A, b"4"))
    assert overlay.run(alice.delete_data("type=light")).matches == 3
    overlay.run(alice.store(A, b"5"))
    assert [match.data for match in overlay.run(bob.retrieve("type=light").all())]


def test_self_made_identities_push_no_member_out_of_the_ledger() -> None:
    """With 10,000 of them the oldest account was forgotten, and its quota was new."""
    policy = parse_policy(f"""
default = "allow"
[groups]
members = ["{ALICE.key}"]
[[quotas]]
name = "few"
who = ["signed"]
profiles = 2
posts_per_second = 100
""")
    overlay = Overlay(peers=2, space=SPACE, seed=4, policy=policy)
    overlay.peers[0].core.gatekeeper.ledger = Ledger(strangers_max=5)
    alice = overlay.client(identity=ALICE)
    for data in (b"1", b"2"):
        overlay.run(alice.store(A, data))
    strangers = [overlay.client(identity=identity(f"stranger {at}")) for at in range(9)]
    for stranger in strangers[:7]:
        overlay.run(stranger.store(A, b"s"))
    for stranger in strangers[7:]:
        with pytest.raises(Refused, match="strangers"):
            overlay.run(stranger.store(A, b"s"))
    overlay.run(until=overlay.kernel.now() + 2.0)
    assert refused_rule(overlay, alice.store(A, b"3")) == "few"


def test_a_store_that_is_refused_further_on_is_not_counted() -> None:
    overlay = Overlay(peers=3, space=SPACE, seed=4, policy=QUOTAS)
    alice = overlay.client(identity=ALICE)
    for name in ("a", "b", "c"):
        full_id = overlay.run(alice.store(A, b"1", id=name)).id
        overlay.run(alice.cancel(full_id))
        assert refused_rule(overlay, alice.store(A, b"1", id=name)) == "deleted"
    overlay.run(alice.store(A, b"1"))


def test_a_cancel_that_takes_nothing_gives_nothing_back() -> None:
    """An id has its region in it, and whoever asks may write one there of which another peer knows,
    where no such record is."""
    overlay = Overlay(peers=8, space=SPACE, seed=4, policy=QUOTAS)
    alice = overlay.client(identity=ALICE)
    overlay.run(alice.store(A, b"1", id="b"))
    overlay.run(alice.store(A, b"1", id="a"))
    overlay.run_for(5.0)  # its copies are where they stay
    other_peer = next(
        other
        for other in (elsewhere(word, at) for word in "adgjmpsvz" for at in range(-40, 125, 15))
        if primary_of(overlay, other).core.shelf.find((ALICE.key, "a")) is None
    )
    assert overlay.run(alice.cancel(other_peer)).matches == 0
    assert refused_rule(overlay, alice.store(A, b"1", id="c")) == "few"


def test_one_stem_in_many_regions_is_many_records() -> None:
    overlay = Overlay(peers=8, space=SPACE, seed=4, policy=QUOTAS)
    alice = overlay.client(identity=ALICE)
    for at in range(2):
        overlay.run(alice.store(f"type=light temperature={10 * at} humidity=1", b"1", id="a"))
    third = alice.store("type=light temperature=20 humidity=1", b"1", id="a")
    assert refused_rule(overlay, third) == "few"


def test_what_moves_counts_once() -> None:
    overlay = Overlay(peers=8, space=SPACE, seed=4, policy=QUOTAS)
    alice = overlay.client(identity=ALICE)
    overlay.run(alice.store(A, b"1"))
    full_id = overlay.run(alice.store(A, b"2")).id
    for at in range(3):
        new = f"type=light temperature={10 * at} humidity=1"
        full_id = overlay.run(alice.replace(full_id, new, b"2")).id
        assert refused_rule(overlay, alice.store(A, b"3")) == "few"
    assert overlay.run(alice.cancel(full_id)).matches == 1
    overlay.run(alice.store(A, b"3"))
    assert refused_rule(overlay, alice.store(A, b"4")) == "few"


def elsewhere(word: str, temperature: int) -> str:
    attributes = {"type": word, "temperature": temperature, "humidity": 50}
    box = place(profile(attributes).typed(SPACE), "store", SPACE, everywhere=False)
    return make_id("a", box, SPACE.curve)


def test_a_version_that_is_posted_again_for_less_time_counts_as_long_as_it_lives() -> None:
    overlay = Overlay(peers=3, space=SPACE, seed=4, policy=QUOTAS)
    alice = overlay.client(identity=ALICE)
    alice._session._version = 7
    for name in ("a", "b"):
        for ttl in (600, 1):
            overlay.run(alice.store(A, b"1", id=name, ttl=ttl))
    overlay.run(until=overlay.kernel.now() + 30)
    assert len(overlay.run(alice.retrieve("type=light").all())) == 2
    assert refused_rule(overlay, alice.store(A, b"1", id="c")) == "few"


def test_a_rate_is_kept_and_bytes_are_bounded() -> None:
    overlay = Overlay(peers=1, space=SPACE, seed=4, policy=QUOTAS)
    client = overlay.client()
    assert refused_rule(overlay, client.store(A, b"x" * 2000)) == "few"

    async def many(client: Client) -> int:
        refused = 0
        for _ in range(30):
            try:
                await client.retrieve("type=light").all()
            except Refused as error:
                refused += error.rule == "few"
        return refused

    refused = overlay.run(many(client))
    assert refused >= 18
    overlay.run(until=overlay.kernel.now() + 1.0)
    assert overlay.run(many(client)) < 30
    assert overlay.peers[0].core.gatekeeper.denials["few"] >= refused


# -- on an event loop, from a file


async def test_a_peer_follows_its_policy_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('default = "allow"')
    async with Peer(space=SPACE, policy=path) as peer:
        await peer.store(A, b"1")
        path.write_text('default = "deny"')
        await peer.reload_policy()
        with pytest.raises(Refused, match="rule 'default'"):
            await peer.store(A, b"2")
        path.write_text("rubbish")
        with pytest.raises(PolicyError, match=r"policy\.toml"):
            await peer.reload_policy()
        with pytest.raises(Refused, match="rule 'default'"):
            await peer.store(A, b"2")


@pytest.mark.long
async def test_the_loop_goes_on_while_a_large_policy_is_read(tmp_path: Path) -> None:
    """By calls, as the machines are shared: of some hundred thousand the loop's thread does few,
    also where the file is looked at by itself."""
    path = tmp_path / "policy.toml"
    path.write_text('default = "allow"\n' + LARGE)
    calls = 0

    def count(_: FrameType, event: str, __: object) -> None:
        nonlocal calls
        calls += event == "call"

    space = KeywordSpace("building", [Word("type")], max_attributes=64)
    async with Peer(space=space, policy=path) as peer:
        await peer.store("type=light", b"1")
        sys.setprofile(count)
        try:
            await peer.reload_policy()
            path.write_text('default = "deny"\n' + LARGE)
            while peer.core.gatekeeper.policy.allows_by_default:  # noqa: ASYNC110 - who would say
                await asyncio.sleep(0.05)
        finally:
            sys.setprofile(None)
        assert len(peer.core.gatekeeper.policy.rules) == 200
        with pytest.raises(Refused, match="rule 'default'"):
            await peer.store("type=light", b"2")
    assert calls < 20_000


@pytest.mark.parametrize(
    "bad", ["default = 'rubbish'", "default = []", f"default = {'9' * 5000}"], ids=len
)
def test_a_changed_file_is_seen_by_itself(
    bad: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def at_once(work: Callable[[], T]) -> T:
        return work()

    path = tmp_path / "policy.toml"
    path.write_text('default = "deny"')
    overlay = Overlay(peers=1, space=SPACE, seed=1)
    peer = overlay.peers[0]
    file = PolicyFile(path)
    overlay.run(reload_policy(file, peer.core.gatekeeper, at_once))
    peer.runtime.spawn(watch_over(peer.runtime, file, peer.core.gatekeeper, at_once))
    assert refused_rule(overlay, overlay.client().store(A, b"1")) == "default"
    with caplog.at_level(logging.ERROR):
        path.write_text(bad)
        overlay.run(until=overlay.kernel.now() + 5 * LOOK_S)
        assert len(caplog.records) == 1
        assert "stays in force" in caplog.text
        assert refused_rule(overlay, overlay.client().store(A, b"1")) == "default"
        path.unlink()
        overlay.run(until=overlay.kernel.now() + 5 * LOOK_S)
        assert len(caplog.records) == 2
    path.write_text('default = "allow"')
    overlay.run(until=overlay.kernel.now() + 2 * LOOK_S)
    overlay.run(overlay.client().store(A, b"1"))


async def test_a_peer_does_not_start_with_a_bad_policy(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text("default = 1")
    with pytest.raises(PolicyError, match=r"policy\.toml"):
        await Peer(space=SPACE, policy=path).start()
    async with Peer(space=SPACE) as peer:
        with pytest.raises(ValueError, match="no policy file"):
            await peer.reload_policy()


async def test_a_peer_signs_what_it_posts_itself() -> None:
    async with Peer(space=SPACE, identity=ALICE, policy=POLICY) as peer:
        receipt = await peer.store(A, b"1", visible_to=[])
        (match,) = await peer.retrieve("type=light")
        assert match.owner == ALICE.key
        assert (await peer.cancel(receipt.id)).matches == 1
    async with LocalOverlay(peers=1, space=SPACE) as overlay:
        with pytest.raises(Refused, match="identity"):
            overlay.peers[0].store(A, b"1", visible_to=[])


async def test_a_local_overlay_tries_a_policy_out() -> None:
    async with LocalOverlay(peers=2, space=SPACE, policy=POLICY) as overlay:
        alice = await overlay.connect(identity=ALICE)
        await alice.store(A, b"1")
        with pytest.raises(Refused, match="rule 'default'"):
            await (await overlay.connect(peer=1)).retrieve("type=light")
