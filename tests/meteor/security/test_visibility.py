"""Hidden profiles: nobody learns of them by asking, counting, watching or deleting.

Overlays in virtual time against a dumb twin: a list of what was posted, and who may see it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Record, Store
from chord import Contact
from meteor import Client, LimitExceeded, Profile, ProfileError, Refused, parse_policy
from meteor.security.audience import (
    AUDIENCE_MAX,
    checked_audience,
    includes,
    may_see,
)
from meteor.wire.messages import Acknowledge
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB, CAROL, identity

FIRE = "group:fire"
POLICY = parse_policy(f'default = "allow"\n[groups]\nfire = ["{BOB.key}"]\n')
PEOPLE = {ALICE.key: ALICE, BOB.key: BOB, CAROL.key: CAROL, "": None}
AUDIENCES = (None, [], [BOB.key], [FIRE], [CAROL.key, FIRE], ["group:unknown"])


def may(asker: str, owner: str, audience: list[str] | None) -> bool:
    """The twin of `may_see`."""
    if audience is None:
        return True
    names = {asker} | ({FIRE} if asker == BOB.key else set())
    return asker != "" and (asker == owner or bool(names & set(audience)))


@dataclass
class Told:
    """One thing that was posted."""

    owner: str
    temperature: int
    audience: list[str] | None
    data: bytes


class World:
    """Everybody at a peer of his own."""

    def __init__(self, seed: int) -> None:
        print(f"seed {seed}")
        self.overlay = Overlay(peers=4, space=SPACE, seed=seed, policy=POLICY)
        self.drawn = random.Random(seed)
        self.clients = {
            key: self.overlay.client(peer=at, identity=who)
            for at, (key, who) in enumerate(PEOPLE.items())
        }

    def owner_and_audience(self) -> tuple[str, list[str] | None]:
        owner = self.drawn.choice(list(PEOPLE))
        return owner, self.drawn.choice(AUDIENCES) if owner else None

    def client(self, key: str) -> Client:
        return self.clients[key]


@pytest.mark.parametrize("seed", range(1, 5))
def test_retrieve_counts_and_deletes_show_what_the_asker_may_see(seed: int) -> None:
    world = World(seed)
    overlay, posted = world.overlay, []
    for number in range(20):
        owner, audience = world.owner_and_audience()
        one = Told(owner, world.drawn.randrange(-30, 100), audience, b"%d" % number)
        posted.append(one)
        overlay.run(
            world.client(owner).store(
                {"type": "light", "temperature": one.temperature}, one.data, visible_to=audience
            )
        )
    for asker in PEOPLE:
        client = world.client(asker)
        low = world.drawn.randrange(-30, 60)
        inside = [one for one in posted if low <= one.temperature <= low + 50]
        seen = sorted(one.data for one in inside if may(asker, one.owner, one.audience))
        answer = client.retrieve(f"temperature={low}..{low + 50}")
        assert sorted(match.data for match in overlay.run(answer.all())) == seen
        receipt = answer.receipt
        assert receipt is not None
        assert receipt.matches == len(seen)
        for mode in ("within", "overlap"):
            selector = f"temperature={low}..{low + 50}"
            count = client.delete_data(selector, mode=mode, dry_run=True)  # type: ignore[arg-type]
            own = sum(one.owner == asker for one in inside)
            assert overlay.run(count).matches == own
    picture = overlay.run(world.client("").ring())
    assert sum(peer.data for peer in picture.peers) == sum(one.audience is None for one in posted)


@pytest.mark.parametrize("seed", range(1, 5))
def test_notices_and_counts_of_interests_show_what_each_may_see(seed: int) -> None:
    """Whoever comes first: interests before and after the data, all with audiences of their own."""
    world = World(seed)
    overlay, interests = world.overlay, []
    data: list[Told] = []
    for number in range(16):
        owner, audience = world.owner_and_audience()
        client = world.client(owner)
        if world.drawn.random() < 0.5:
            low = world.drawn.randrange(-30, 60)
            kept = overlay.run(
                client.notify_data(f"temperature={low}..{low + 60}", visible_to=audience)
            )
            interests.append((owner, audience, low, kept))
            continue
        one = Told(owner, world.drawn.randrange(-30, 100), audience, b"%d" % number)
        data.append(one)
        receipt = overlay.run(
            client.store(
                {"type": "light", "temperature": one.temperature}, one.data, visible_to=audience
            )
        )
        expected = sum(
            low <= one.temperature <= low + 60
            and may(to, one.owner, one.audience)
            and may(one.owner, to, to_audience)
            for to, to_audience, low, _ in interests
        )
        assert receipt.matches == expected
    overlay.run(until=overlay.kernel.now() + 5)
    for owner, _, low, kept in interests:
        due = sorted(
            one.data
            for one in data
            if low <= one.temperature <= low + 60 and may(owner, one.owner, one.audience)
        )
        assert sorted(notice.data for notice in kept._items) == due


def test_a_watch_hears_of_the_interests_that_its_owner_may_see() -> None:
    world = World(1)
    overlay = world.overlay
    watches = {
        key: overlay.run(world.client(key).notify_interest("type=light temperature=*"))
        for key in PEOPLE
    }
    interest = overlay.run(
        world.client(ALICE.key).notify_data("type=light", id="i", visible_to=[FIRE])
    )
    overlay.run(interest.close())
    overlay.run(until=overlay.kernel.now() + 3)
    heard = {key: [notice.kind for notice in watch._items] for key, watch in watches.items()}
    both = ["appeared", "gone"]
    assert heard == {ALICE.key: both, BOB.key: both, CAROL.key: [], "": []}


def test_what_becomes_hidden_is_gone_for_a_watch() -> None:
    world = World(2)
    overlay = world.overlay
    watch = overlay.run(world.client("").notify_interest("type=light temperature=*"))
    alice = world.client(ALICE.key)
    overlay.run(alice.notify_data("type=light", id="i", keep_alive=False))
    overlay.run(alice.notify_data("type=light", id="i", keep_alive=False, visible_to=[]))
    overlay.run(until=overlay.kernel.now() + 3)
    assert [notice.kind for notice in watch._items] == ["appeared", "gone"]


def test_whoever_may_not_see_a_record_is_told_that_there_is_none() -> None:
    world = World(3)
    overlay = world.overlay
    full_id = overlay.run(
        world.client(ALICE.key).store("type=light temperature=20", b"x", visible_to=[FIRE])
    ).id
    for stranger in (world.client(CAROL.key), world.client("")):
        assert overlay.run(stranger.cancel(full_id)).matches == 0
        assert overlay.run(stranger.renew(full_id)).matches == 0
    with pytest.raises(Refused, match="somebody else's"):
        overlay.run(world.client(BOB.key).cancel(full_id))


def test_an_action_is_given_what_its_poster_may_see() -> None:
    world = World(4)
    overlay = world.overlay

    async def count(context: object, message: object, matches: list[object]) -> bytes:
        return b"%d" % len(matches)

    for peer in overlay.peers:
        peer.core.actions.add("count", count)  # type: ignore[arg-type]
    overlay.run(world.client(ALICE.key).store("type=light temperature=20", b"x", visible_to=[FIRE]))
    sums = {
        key: sum(
            int(result.data)
            for result in overlay.run(world.client(key).perform("count", "type=light").all())
        )
        for key in PEOPLE
    }
    assert sums == {ALICE.key: 1, BOB.key: 1, CAROL.key: 0, "": 0}


def test_what_moves_unseen_is_counted_for_nobody() -> None:
    """Of a hidden record that moved lately a question was told where to ask again, and what
    everybody sees there counted twice."""
    world = World(7)
    overlay = world.overlay
    alice = world.client(ALICE.key)
    made = overlay.run(alice.store("type=light temperature=20", b"x", visible_to=[FIRE]))
    overlay.run(world.client(CAROL.key).store("type=light temperature=50", b"public"))
    overlay.run(alice.replace(made.id, "type=light temperature=50", b"x", visible_to=[FIRE]))

    def counted() -> int:
        return sum(peer.core.entry.tally.matches for peer in overlay.peers)

    for key, seen in (("", 1), (CAROL.key, 1), (BOB.key, 2)):
        before = counted()
        found = overlay.run(world.client(key).retrieve("type=light temperature=0..100").all())
        assert len(found) == seen
        if key != BOB.key:  # of what he sees there he is told twice, and counts it once
            assert counted() - before == seen


def test_a_place_in_the_ring_says_nothing_of_what_is_hidden() -> None:
    """Anybody may ask where a new peer would go: it named the cell of a hidden record."""
    places = []
    for audience in (None, [BOB.key]):
        world = World(8)
        overlay, alice = world.overlay, world.client(ALICE.key)
        for temperature in (20, 30, 40) if audience else ():
            overlay.run(
                alice.store(f"type=light temperature={temperature}", b"", visible_to=audience)
            )
        overlay.run(until=10.0)
        place = overlay.run(overlay.peers[0].core.placing.find(1, 1.0))
        assert place is not None
        places.append(place >> world.overlay.config.bits - SPACE.curve.index_bits)  # then drawn
    assert places[0] == places[1]


def test_an_acknowledgement_in_anothers_name_counts_the_same_whether_he_has_the_interest() -> None:
    world = World(9)
    overlay = world.overlay
    overlay.run(world.client(ALICE.key).notify_data("type=light", id="i", visible_to=[]))
    stranger = Contact(1, "")
    for peer in overlay.peers:
        telling = peer.core.telling
        for stem in ("i", "nothing"):
            word = Acknowledge(stem, ("i:x:1",), peer.core.node.contact, ALICE.key)
            telling.handlers[Acknowledge](stranger, word, 1.0)
            assert telling.acknowledged == 0


def test_an_audience_needs_an_identity() -> None:
    world = World(5)
    with pytest.raises(Refused) as refused:
        world.client("").store("type=light temperature=20", b"x", visible_to=[ALICE.key])
    assert refused.value.rule == "identity"


def test_a_group_can_change_while_the_overlay_runs() -> None:
    world = World(6)
    overlay = world.overlay
    overlay.run(world.client(ALICE.key).store("type=light temperature=20", b"x", visible_to=[FIRE]))
    assert len(overlay.run(world.client(BOB.key).retrieve("type=light").all())) == 1
    for peer in overlay.peers:
        peer.core.gatekeeper.install(parse_policy('default = "allow"'))
    assert overlay.run(world.client(BOB.key).retrieve("type=light").all()) == []


# -- the decisions alone

KEYS = [identity(name).key for name in ("a", "b", "c")]
NAMES = st.sampled_from([*KEYS, "group:one", "group:two", "anyone", "signed", "unsigned"])
GROUPS = st.fixed_dictionaries({}, optional={
    "one": st.frozensets(st.sampled_from(KEYS)), "two": st.frozensets(st.sampled_from(KEYS)),
})  # fmt: skip


@given(st.lists(NAMES), st.sampled_from(["", *KEYS]), GROUPS)
def test_who_is_meant(names: list[str], key: str, groups: dict[str, frozenset[str]]) -> None:
    meant = {"anyone"} | ({"signed", key} if key else {"unsigned"})
    meant |= {f"group:{name}" for name, keys in groups.items() if key in keys}
    assert includes(names, key, groups) == bool(meant & set(names))


@given(st.sets(st.sampled_from([*KEYS, "group:one"])), st.sampled_from(["", *KEYS]), GROUPS)
def test_nobody_unsigned_sees_what_has_an_audience(
    names: set[str], asker: str, groups: dict[str, frozenset[str]]
) -> None:
    audience = checked_audience(names)
    seen = may_see(asker, KEYS[0], audience, groups)
    assert seen == (
        not audience or (asker != "" and (asker == KEYS[0] or includes(audience, asker, groups)))
    )
    if not asker:
        assert seen == (not audience)


@pytest.mark.parametrize("name", ["anyone", "group:", "group:a b", "ed25519:short", "", "group:ä"])
def test_an_audience_is_of_keys_and_groups(name: str) -> None:
    with pytest.raises(ProfileError):
        checked_audience([name])


def test_an_audience_is_bounded_and_a_list() -> None:
    with pytest.raises(LimitExceeded):
        checked_audience(f"group:g{n}" for n in range(AUDIENCE_MAX + 1))
    with pytest.raises(TypeError, match="list"):
        checked_audience("group:one")


@given(st.integers(0, 2**32))
def test_the_store_knows_owners_and_what_is_hidden(seed: int) -> None:
    """Against a recount, through puts of several versions, removes and a bulk load."""
    drawn, now = random.Random(seed), 0.0
    light = Profile.parse("type=light", SPACE)

    def record(owner: str, stem: str, version: int) -> Record:
        audience = drawn.choice([(), (FIRE,)])
        kind = drawn.choice(["data", "watch"])
        return Record(
            kind, stem, owner, version, stem, "store", light, b"", 100.0, visible_to=audience
        )

    store = Store()
    store.load(record(owner, "loaded", 1) for owner in ("", "a", "b"))
    for version in range(2, 30):
        owner, stem = drawn.choice(["", "a", "b"]), drawn.choice(["loaded", "x"])
        if drawn.random() < 0.3:
            store.remove(owner, stem)
        else:
            store.put(record(owner, stem, version), now)
        kept = list(store.records())
        public = [one for one in kept if not one.visible_to]
        begin = drawn.randrange(len(public) + 2)
        assert list(filter(None, store.public_records(begin))) == public[begin:]
        assert store.public_count() == len(list(filter(None, store.public_records())))
        assert store.public_count() == sum(not one.visible_to for one in kept)
        for kind in ("data", "watch"):
            shown = sum(not one.visible_to and one.kind == kind for one in kept)
            assert store.public_count(kind) == shown
        for name in ("loaded", "x"):
            assert set(store.owners(name)) == {
                one.owner for one in kept if one.owner and one.stem == name
            }
