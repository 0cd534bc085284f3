"""`detach` and `attach`: what stands in the overlay outlives its client, and is taken up by id."""

from __future__ import annotations

import random

import pytest

from meteor import Client, Closed, Incomplete, Interest, ProfileError, Refused, Timeout, Watch
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.copies_world import assert_whole_within, build, crash, restart_all, seeds
from tests.meteor.notified_world import (
    INTERESTS,
    Listener,
    Sensor,
    assert_exactly_once,
    opened,
    victims,
)

ALARMS = "type=alarm temperature=50..60"


@pytest.fixture(scope="module")
def overlay() -> Overlay:
    return Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=5)


def store(overlay: Overlay, *temperatures: float) -> list[str]:
    client = overlay.client(peer=1)
    return [
        overlay.run(client.store(f"type=alarm temperature={t}", str(t))).id for t in temperatures
    ]


def texts(overlay: Overlay, interest: Interest, count: int) -> list[str]:
    """What comes, and nothing more."""
    found = [overlay.run(interest.recv(timeout=2)).text for _ in range(count)]
    with pytest.raises(Timeout):
        overlay.run(interest.recv(timeout=3))
    return sorted(found)


def clear(overlay: Overlay, *interests: Interest) -> None:
    for interest in interests:
        overlay.run(interest.close())
    overlay.run(overlay.client().delete_data("type=alarm"))


def test_what_lives_comes_first_then_what_comes(overlay: Overlay) -> None:
    before = overlay.client(peer=2)
    interest = overlay.run(opened(before, ALARMS))
    store(overlay, 51, 52)
    assert overlay.run(interest.recv(timeout=1)).text == "51"
    full_id = overlay.run(interest.detach())
    assert interest.state == "detached"
    before.abandon()
    store(overlay, 53)
    after = overlay.client(peer=4)
    again = overlay.run(after.attach(full_id))
    assert type(again) is Interest
    assert (again.id, again.state) == (full_id, "active")
    store(overlay, 54)
    assert texts(overlay, again, 4) == ["51", "52", "53", "54"]
    clear(overlay, again)


def test_a_process_that_died_needs_no_detach(overlay: Overlay) -> None:
    before = overlay.client(peer=2)
    interest = overlay.run(opened(before, ALARMS))
    store(overlay, 51)
    before.abandon()
    again = overlay.run(overlay.client(peer=3).attach(interest.id))
    assert texts(overlay, again, 1) == ["51"]
    clear(overlay, again)


def test_it_is_renewed_while_the_new_client_lives(overlay: Overlay) -> None:
    before = overlay.client(peer=2)
    interest = overlay.run(opened(before, ALARMS, ttl=20))
    overlay.run(interest.detach())
    kept = overlay.run(overlay.client(peer=3).attach(interest.id, ttl=20))
    overlay.run_for(50)
    store(overlay, 51)
    assert texts(overlay, kept, 1) == ["51"]
    clear(overlay, kept)


def test_without_keep_alive_it_runs_out_as_it_would_have(overlay: Overlay) -> None:
    before = overlay.client(peer=2)
    interest = overlay.run(opened(before, ALARMS, ttl=20))
    overlay.run_for(3)
    overlay.run(interest.detach())
    overlay.run_for(5)
    again = overlay.run(overlay.client(peer=3).attach(interest.id, keep_alive=False))
    states = []
    for duration_s in (14, 2):
        overlay.run_for(duration_s)
        states.append(again.state)
    assert states == ["active", "expired"]
    with pytest.raises(Refused) as refused:
        overlay.run(overlay.client().attach(interest.id))
    assert refused.value.rule == "unknown"


def test_a_long_life_is_not_shortened_by_attaching(overlay: Overlay) -> None:
    interest = overlay.run(opened(overlay.client(peer=2), ALARMS, ttl=400))
    overlay.run(interest.detach())
    again = overlay.run(overlay.client(peer=3).attach(interest.id))
    assert 395 < again._attachment.ttl_s <= 400
    clear(overlay, again)


def test_a_handler_takes_what_comes(overlay: Overlay) -> None:
    interest = overlay.run(opened(overlay.client(peer=2), ALARMS))
    overlay.run(interest.detach())
    store(overlay, 51)
    told: list[str] = []
    client = overlay.client(peer=3)
    again = overlay.run(client.attach(interest.id, handler=lambda one: told.append(one.text)))
    store(overlay, 52)
    overlay.run_for(1)
    assert sorted(told) == ["51", "52"]
    clear(overlay, again)


def test_a_watch_comes_back_as_a_watch(overlay: Overlay) -> None:
    async def watch(client: Client) -> Watch:
        return await client.notify_interest("type=alarm temperature=*")

    first = overlay.run(watch(overlay.client(peer=2)))
    overlay.run(first.detach())
    interest = overlay.run(opened(overlay.client(peer=1), ALARMS))
    again = overlay.run(overlay.client(peer=3).attach(first.id))
    assert isinstance(again, Watch)
    overlay.run(again.wait_active(timeout=2))
    overlay.run(interest.close())
    overlay.run(again.wait_idle(timeout=2))
    clear(overlay, again)


def test_a_standing_retrieve_comes_back_with_what_lives(overlay: Overlay) -> None:
    before = overlay.client(peer=2)
    answer = before.retrieve(ALARMS, ttl=20)
    store(overlay, 51)
    assert [match.text for match in overlay.run(answer.all())] == ["51"]
    full_id = overlay.run(answer.detach())
    store(overlay, 52)
    again = overlay.run(overlay.client(peer=3).attach(full_id))
    store(overlay, 53)
    assert texts(overlay, again, 3) == ["51", "52", "53"]
    overlay.run_for(20)
    assert again.state == "expired"
    clear(overlay)
    with pytest.raises(Closed, match="give the retrieve a ttl"):
        overlay.run(answer.detach())


def test_an_id_from_before_a_replace_leads_to_where_it_is_now(overlay: Overlay) -> None:
    interest = overlay.run(opened(overlay.client(peer=2), ALARMS))
    old_id = interest.id
    overlay.run(interest.replace("type=alarm temperature=70..80"))
    assert interest.id != old_id
    overlay.run(interest.detach())
    again = overlay.run(overlay.client(peer=3).attach(old_id))
    assert again.id == interest.id
    store(overlay, 55, 75)
    assert texts(overlay, again, 1) == ["75"]
    clear(overlay, again)


def test_attached_here_already_it_moves_to_the_new_object(overlay: Overlay) -> None:
    client = overlay.client(peer=2)
    interest = overlay.run(opened(client, ALARMS))
    again = overlay.run(client.attach(interest.id))
    assert interest.state == "closed"
    store(overlay, 51)
    assert texts(overlay, again, 1) == ["51"]
    clear(overlay, again)


def test_what_is_no_interest_is_refused_by_rule(overlay: Overlay) -> None:
    client = overlay.client(peer=2)
    gone = overlay.run(opened(client, ALARMS))
    overlay.run(gone.close())
    (data,) = store(overlay, 51)
    (deleted,) = store(overlay, 52)
    overlay.run(client.cancel(deleted))
    never = f"never.{gone.id.partition('.')[2]}"
    for full_id, rule in (
        (gone.id, "deleted"), (deleted, "deleted"), (data, "no interest"), (never, "unknown"),
    ):  # fmt: skip
        with pytest.raises(Refused) as refused:
            overlay.run(client.attach(full_id))
        assert refused.value.rule == rule
    with pytest.raises(ProfileError):
        client.attach("no id")
    with pytest.raises(ProfileError):
        client.attach("stem.notaregion")
    with pytest.raises(ValueError, match="ttl"):
        client.attach(gone.id, ttl=-1)
    overlay.run(client.delete_data("type=alarm"))


def test_detaching_twice_or_after_the_end_is_harmless(overlay: Overlay) -> None:
    interest = overlay.run(opened(overlay.client(peer=2), ALARMS))
    assert overlay.run(interest.detach()) == overlay.run(interest.detach()) == interest.id
    overlay.run(interest.close())
    again = overlay.run(overlay.client(peer=3).attach(interest.id))
    clear(overlay, again)
    assert overlay.run(again.detach()) == again.id
    assert again.state == "closed"


def test_a_client_that_cannot_attach_leaves_it_standing() -> None:
    """A part of its region does not answer: `Incomplete`, and nothing is deleted."""
    overlay = Overlay(codec=wire_codec(), peers=6, space=SPACE, seed=2, copies=1)
    client = overlay.client(peer=0)
    interest = overlay.run(opened(client, "temperature=-40..125 humidity>=0"))
    overlay.run(interest.detach())
    overlay.peers[3].crash()
    overlay.run_for(5)
    with pytest.raises(Incomplete):
        overlay.run(overlay.client(peer=1).attach(interest.id, timeout=3))
    overlay.run_for(5)
    again = overlay.run(overlay.client(peer=1).attach(interest.id, allow_partial=True))
    assert again.missing


@pytest.mark.parametrize("who", ["matcher", "own", "both"])
@pytest.mark.parametrize("seed", seeds(1))
def test_after_a_restart_of_the_client_it_comes_at_least_once(seed: int, who: str) -> None:
    """It is detached or dies; peers die between that and the attach, or a moment after it."""
    overlay, drawn = build(seed, 8), random.Random(f"{seed} {who}")
    selector = drawn.choice(INTERESTS)
    sensor = Sensor(overlay.client(peer=1), drawn, selector)
    client = overlay.client(peer=drawn.randrange(8))
    listener = Listener(client, overlay.run(opened(client, selector))).listen()
    told: set[str] = set()
    for _ in range(3):
        attributes = sensor.draw()
        for _ in range(3):
            overlay.run(sensor.store(sensor.draw()))
        overlay.run(sensor.store(attributes))
        overlay.run_for(drawn.choice([0.0, 0.01, 3.0]))
        fallen = victims(overlay, who, listener.client, attributes)
        listener.assert_once()
        told |= set(listener.came)
        if drawn.random() < 0.5:
            overlay.run(listener.interest.detach())
        listener.client.abandon()
        before_it = drawn.random() < 0.5
        if before_it:
            crash(*fallen)
            overlay.run(sensor.store(sensor.draw()))
        client = overlay.client(peer=drawn.randrange(len(overlay.living)))
        again = overlay.run(client.attach(listener.interest.id, ttl=300))
        listener = Listener(client, again).listen()
        if not before_it:
            overlay.run_for(drawn.choice([0.0, 0.002, 0.05]))
            crash(*(peer for peer in fallen if peer.alive))
        overlay.run(sensor.store(sensor.draw()))
        overlay.run_for(5)
        restart_all(overlay, fallen)
        assert_whole_within(overlay)
    assert_exactly_once(overlay, sensor, listener)
    assert told <= sensor.sure | sensor.open
