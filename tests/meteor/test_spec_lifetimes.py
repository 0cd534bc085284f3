"""SPEC section 4 on lifetimes, ids, renew, cancel and replace, sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import meteor
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE

Run = Callable[[Any], Any]
WATCHED = "type=ghost temperature=* humidity=*"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=8, space=SPACE, seed=12)


@pytest.fixture
def run(overlay: Overlay) -> Run:
    return overlay.run


@pytest.fixture
def client(overlay: Overlay) -> meteor.Client:
    return overlay.client()


def test_what_is_left_out_lives_its_default(run: Run, client: meteor.Client) -> None:
    """Data 3600 s, interests and watches 300 s, a retrieve 0; at most 30 days."""
    assert run(client.store("type=probe")).ttl == 3600
    (match,) = run(client.retrieve("type=probe").all())
    assert 3590 < match.ttl <= 3600
    assert run(_opened(client.notify_data("type=probe"))).receipt.ttl == 300
    assert run(_opened(client.notify_interest(WATCHED))).receipt.ttl == 300
    answer = client.retrieve("type=probe")
    run(answer.all())
    assert answer.receipt is not None
    assert answer.receipt.ttl == 0
    assert run(client.store("type=probe", ttl=30 * 86_400)).ttl == 30 * 86_400
    with pytest.raises(meteor.LimitExceeded):
        client.store("type=probe", ttl=30 * 86_400 + 1)


async def _opened(interest: Any) -> Any:
    return await interest


def test_an_interest_outlives_its_client_by_its_ttl(
    overlay: Overlay, run: Run, client: meteor.Client
) -> None:
    """And not by more; while the client lived it was renewed."""
    watch = run(_opened(client.notify_interest(WATCHED)))
    other = overlay.client(peer=2)
    run(_opened(other.notify_data("type=ghost", ttl=60)))
    overlay.run_for(300.0)
    assert watch.active, "it was renewed"
    run(other.close())
    overlay.run_for(39.0)  # the last renewal was at most a third of 60 s ago
    assert watch.active
    overlay.run_for(22.0)
    assert not watch.active


def test_closing_an_interest_deletes_it_at_once(
    overlay: Overlay, run: Run, client: meteor.Client
) -> None:
    watch = run(_opened(client.notify_interest(WATCHED)))

    async def entered_and_left() -> None:
        async with client.notify_data("type=ghost", ttl=3600):
            await watch.wait_active(timeout=1)
        await watch.wait_idle(timeout=1)

    run(entered_and_left())


def test_renew_without_a_ttl_gives_what_it_had_or_the_default(
    overlay: Overlay, run: Run, client: meteor.Client
) -> None:
    receipt = run(client.store("type=probe", ttl=5))
    assert run(client.renew(receipt.id)).ttl == 3600
    assert run(client.renew(receipt.id, ttl=7)).matches == 1
    overlay.run_for(8.0)
    assert run(client.renew(receipt.id, ttl=7)).matches == 0, "it lives no more"
    interest = run(_opened(client.notify_data("type=probe", ttl=100)))
    assert run(client.renew(interest.id)).ttl == 100
    assert run(client.renew(interest.id, ttl=50)).matches == 1
    assert run(client.cancel(interest.id)).matches == 1
    assert interest.state == "closed"
    assert run(client.cancel(receipt.id)).matches == 0


def test_an_id_of_ones_own_is_its_stem_and_routes_by_itself(
    overlay: Overlay, run: Run, client: meteor.Client
) -> None:
    name = "Mote_7-" + "x" * 57
    receipt = run(client.store("type=probe temperature=1", b"1", id=name))
    assert receipt.id.startswith(name + ".")
    other = overlay.client(peer=5)  # it knows the id alone
    moved = run(other.replace(receipt.id, "type=probe temperature=99", b"2", ttl=60))
    assert moved.id.split(".")[0] == name
    assert moved.id != receipt.id
    (match,) = run(client.retrieve("type=probe").all())
    assert (match.id, match.data, match.owner) == (moved.id, b"2", "")
    assert run(client.renew(receipt.id, ttl=9)).matches == 1, "the old id leads to the new place"
    assert run(client.cancel(receipt.id)).matches == 1
    with pytest.raises(meteor.Refused, match="post under another id") as refused:
        run(other.store("type=probe temperature=99", id=name))
    assert refused.value.rule == "deleted"


def test_a_replace_that_is_older_than_what_is_kept_says_so_and_leaves_nothing(
    overlay: Overlay, run: Run, client: meteor.Client
) -> None:
    """Versions go by their authors' clocks; one that is behind loses loudly."""
    ahead = overlay.client(peer=3, first_version=2 * 10**15)
    receipt = run(ahead.store("type=probe temperature=1", b"newer"))
    for _ in range(2):
        with pytest.raises(meteor.Refused, match="clock ahead") as refused:
            run(client.replace(receipt.id, "type=probe temperature=99", b"older"))
        assert refused.value.rule == "older"
        assert [match.data for match in run(client.retrieve("type=probe").all())] == [b"newer"]
        assert run(client.retrieve("temperature>=50").all()) == []
    run(ahead.replace(receipt.id, "type=probe temperature=99", b"newest"))
    assert [match.data for match in run(client.retrieve("type=probe").all())] == [b"newest"]


def test_replacing_an_interest_by_its_id_moves_its_stream(
    overlay: Overlay, run: Run, client: meteor.Client
) -> None:
    interest = run(_opened(client.notify_data("type=attic")))
    receipt = run(client.replace(interest.id, "type=yard"))
    assert interest.id == receipt.id
    other = overlay.client(peer=3)
    run(other.store("type=attic", b"no"))
    run(other.store("type=yard", b"yes"))
    assert run(interest.recv(timeout=1)).data == b"yes"
    with pytest.raises(meteor.Timeout):
        run(interest.recv(timeout=1))


def test_replacing_what_lives_no_more_posts_it(
    overlay: Overlay, run: Run, client: meteor.Client
) -> None:
    receipt = run(client.store("type=probe temperature=1", b"1", ttl=1))
    overlay.run_for(3.0)
    run(client.replace(receipt.id, "type=probe temperature=9", b"2"))
    assert [match.data for match in run(client.retrieve("type=probe").all())] == [b"2"]


def test_undeclared_attributes_alone_go_everywhere_and_deletes_too(
    run: Run, client: meteor.Client
) -> None:
    run(client.store("type=probe room=5", b"x"))
    for refuse in (
        lambda: client.retrieve("room=5"),
        lambda: client.retrieve("type"),
        lambda: client.notify_data("room=5"),
        lambda: client.delete_data("room=5"),
        lambda: client.delete_interest("room=5"),
    ):
        with pytest.raises(meteor.Refused, match="everywhere=True") as refused:
            refuse()
        assert refused.value.rule == "everywhere"
    assert len(run(client.retrieve("room=5", everywhere=True).all())) == 1
    assert run(client.delete_data("room=5", everywhere=True, dry_run=True)).matches == 1
    assert run(client.delete_data("room=5", everywhere=True)).matches == 1
    assert run(client.retrieve("room=5", everywhere=True).all()) == []
    with pytest.raises(meteor.ProfileError, match="type, temperature, humidity"):
        client.store("room=5")
    for empty in ("", "  ", {}):
        with pytest.raises((meteor.SelectorError, meteor.ProfileError), match="name an attribute"):
            client.retrieve(empty, everywhere=True)
