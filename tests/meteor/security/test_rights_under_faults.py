"""Rights while peers join, leave, die and come back: a twin knows what lives, whose it is, and who
may see it; nobody ever gets more than that, and at rest everybody gets all of it."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from meteor import Client, Incomplete, MeteorError, Refused, parse_policy
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.overlay import Overlay
from tests.meteor.building import SPACE
from tests.meteor.security.signers import ALICE, BOB, CAROL

FIRE = "group:fire"
POLICY = parse_policy(f'default = "allow"\n[groups]\nfire = ["{BOB.key}"]\n')
PEOPLE = {ALICE.key: ALICE, BOB.key: BOB, CAROL.key: CAROL, "": None}
REST_S = 30.0


@dataclass
class Told:
    """One record, as the twin has it."""

    owner: str
    audience: list[str] | None
    id: str
    is_sure: bool = True
    """Whether a receipt said so; else it may be there or not."""


def may(asker: str, one: Told) -> bool:
    if one.audience is None:
        return True
    names = {asker} | ({FIRE} if asker == BOB.key else set())
    return asker != "" and (asker == one.owner or bool(names & set(one.audience)))


class World:
    """An overlay in trouble, and the twin."""

    def __init__(self, seed: int) -> None:
        print(f"seed {seed}")
        self.drawn = random.Random(seed)
        kernel = Kernel(seed)
        self.overlay = Overlay(
            peers=6, space=SPACE, seed=seed, policy=POLICY, kernel=kernel, disk=SimDisk(kernel)
        )
        self.clients = {
            key: self.overlay.client(peer=at, identity=who)
            for at, (key, who) in enumerate(PEOPLE.items())
        }
        self.kept: dict[str, Told] = {}
        self.count = 0

    def client(self, key: str) -> Client:
        return self.clients[key]

    def step(self) -> None:
        """Something that somebody does, or that happens to a peer."""
        act = self.drawn.choice(
            [self.store, self.store, self.store, self.steal, self.cancel, self.look, self.trouble]
        )
        try:
            act()
        except Refused:  # nobody here is refused what is his
            raise
        except MeteorError:
            return  # in trouble; the twin was told before what is open

    def store(self) -> None:
        owner = self.drawn.choice(list(PEOPLE))
        audience = self.drawn.choice([None, [], [FIRE], [CAROL.key]]) if owner else None
        self.count += 1
        name = f"n{self.count}"
        told = self.kept[name] = Told(owner, audience, "", is_sure=False)
        temperature = self.drawn.randrange(-30, 120)
        receipt = self.overlay.run(
            self.client(owner).store(
                {"type": "light", "temperature": temperature}, name.encode(), id=name,
                visible_to=audience, timeout=5,
            )
        )  # fmt: skip
        told.id, told.is_sure = receipt.id, True

    def steal(self) -> None:
        """Touch what another one owns, by every way there is."""
        owned = [one for one in self.kept.values() if one.owner and one.id]
        if not owned:
            return
        one = self.drawn.choice(owned)
        thief = self.client(self.drawn.choice([key for key in PEOPLE if key != one.owner]))
        for attempt in (
            lambda: thief.cancel(one.id, timeout=5, allow_partial=True),
            lambda: thief.renew(one.id, ttl=1, timeout=5, allow_partial=True),
        ):
            matches, rule = 0, "owner"
            try:
                matches = self.overlay.run(attempt()).matches
            except Refused as refused:
                rule = refused.rule if may(thief.owner, one) else "it shows itself"
            assert (matches, rule) == (0, "owner")

    def cancel(self) -> None:
        sure = [name for name, one in self.kept.items() if one.is_sure]
        if not sure:
            return
        name = self.drawn.choice(sure)
        one = self.kept[name]
        one.is_sure = False
        receipt = self.overlay.run(self.client(one.owner).cancel(one.id, timeout=5))
        assert receipt.complete
        del self.kept[name]

    def look(self) -> None:
        """Nobody ever gets more than he may see, complete or not."""
        asker = self.drawn.choice(list(PEOPLE))
        try:
            matches = self.overlay.run(self.client(asker).retrieve("type=light", timeout=3).all())
        except Incomplete as incomplete:
            matches = incomplete.matches
        for match in matches:
            one = self.kept.get(match.text)
            assert one is None or may(asker, one), (asker, match.text)
            assert one is None or match.owner == one.owner

    def trouble(self) -> None:
        """One peer at a time dies and comes back, leaves, or joins."""
        overlay = self.overlay
        which = self.drawn.randrange(3)
        if which == 0 and len(overlay.living) < 9:
            overlay.run(overlay.add_peer())
        elif len(overlay.living) > 4:
            victim = self.drawn.choice(overlay.living)
            if which == 1:
                overlay.run(victim.leave())
            else:
                victim.crash()
                overlay.run(until=overlay.kernel.now() + self.drawn.uniform(0, 4))
                if self.drawn.random() < 0.5:
                    overlay.run(overlay.restart(victim))
        overlay.run(until=overlay.kernel.now() + 8)

    def assert_right_at_rest(self) -> None:
        """Everybody sees what he may see, and deletes what is his."""
        self.overlay.run(until=self.overlay.kernel.now() + REST_S)
        for key, who in PEOPLE.items():  # the peers that the first ones knew may all be gone
            self.clients[key] = self.overlay.client(identity=who)
        for asker in PEOPLE:
            matches = self.overlay.run(self.client(asker).retrieve("type=light", timeout=30).all())
            found = {match.text for match in matches}
            seen = {name for name, one in self.kept.items() if may(asker, one)}
            sure = {name for name in seen if self.kept[name].is_sure}
            assert sure <= found, (asker, sorted(sure - found))
            assert found <= seen, (asker, sorted(found - seen))
        for key in PEOPLE:
            own = [one for one in self.kept.values() if one.owner == key]
            receipt = self.overlay.run(self.client(key).delete_data("type=light", timeout=30))
            assert sum(one.is_sure for one in own) <= receipt.matches <= len(own)


def follow(seed: int, steps: int) -> None:
    world = World(seed)
    for _ in range(steps):
        world.step()
    world.assert_right_at_rest()


@pytest.mark.parametrize("seed", [1, 2])
def test_rights_hold_whatever_happens_to_peers(seed: int) -> None:
    follow(seed, steps=25)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_rights_hold_for_long(seed: int) -> None:
    follow(seed, steps=80)
