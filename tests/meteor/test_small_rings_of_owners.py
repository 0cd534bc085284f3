"""Small rings as in `test_small_rings_that_select`, whose records are of several owners or of none.

All that is promised there is promised to each; nobody takes, or moves, what is another's, whoever
answers for it by then; and what is nobody's everybody may.
"""

from __future__ import annotations

from typing import Any

import pytest

from meteor import Client, Identity
from meteor.wire.record_id import stem_of
from tests.meteor.copies_world import seeds
from tests.meteor.security.signers import ALICE, BOB
from tests.meteor.test_small_rings_at_once import Promised, Touched
from tests.meteor.test_small_rings_that_select import SelectingRing

WHO: tuple[Identity | None, ...] = (None, ALICE, ALICE, BOB)


class OwnedRing(SelectingRing):
    """A ring in which several own what they posted."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.identities: dict[Client, str] = {}
        self.acting = ""
        """Whose the client is that is to begin something."""
        self.mixed: set[str] = set()
        """What was nobody's, and may be replaced by somebody's, or may not, or in part."""
        super().__init__(seed, monkeypatch)

    def client_of(self, peer: int) -> Client:
        who = self.drawn.choice(WHO)
        client = self.overlay.client(peer=peer, identity=who)
        self.acting = self.identities[client] = "" if who is None else who.key
        return client

    def owner_of(self, client: Client) -> str:
        return self.identities.get(client, "")

    def owners_of(self, record: Touched) -> set[str]:
        return self.said[stem_of(record.id)].owners

    def free(self) -> Touched | None:
        """One that whoever acts may touch, most of the time."""
        able = [one for _, one in sorted(self.records.items())
                if one.state != "gone" and not one.is_busy]  # fmt: skip
        if self.drawn.random() < 0.8:
            able = [one for one in able if self.owners_of(one) <= {"", self.acting}]
        return self.drawn.choice(able) if able else None

    async def replace(self, record: Touched, client: Client, timeout_s: float) -> None:
        acting, owners = self.owner_of(client), self.owners_of(record)
        if not owners <= {"", acting}:
            await self.meddle(record, client, timeout_s)
            return
        owners.add(acting)
        number = self.number + 1
        await super().replace(record, client, timeout_s)
        if record.least == number:  # whoever replaces what was nobody's owns it
            if owners != {acting} and record.is_unknown:
                # A replace before it may have come halfway, elsewhere: that is another record then,
                # and is finished as nobody's (docs/internals/papers.md).
                self.mixed.add(stem_of(record.id))
            owners.intersection_update({acting})
        elif len(owners) > 1:
            self.mixed.add(stem_of(record.id))

    def judge(self, one: Promised, found: dict[str, list[int]], missing: Any, whole: bool) -> None:
        if stem_of(one.record.id) not in self.mixed:
            super().judge(one, found, missing, whole)

    async def cancel(self, record: Touched, client: Client, timeout_s: float) -> None:
        if self.owners_of(record) <= {"", self.owner_of(client)}:
            await super().cancel(record, client, timeout_s)
        else:
            await self.meddle(record, client, timeout_s)

    async def meddle(self, record: Touched, client: Client, timeout_s: float) -> None:
        """Try to delete what is somebody else's: nothing becomes of it."""
        record.is_busy, record.touched = False, record.touched - 1
        if "" in self.owners_of(record) or stem_of(record.id) in self.mixed:
            return  # of what is mixed, what was nobody's may be there still (seed 23)
        post = client.cancel(record.id, timeout=timeout_s)
        receipt, error, _ = await self.counted(client, post)
        if error is None and receipt.matches:
            self.wrong.append(f"another's was deleted: {record}")


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    OwnedRing(seed, monkeypatch).to_the_end(range(6, 16), 7)


@pytest.mark.parametrize("seed", seeds(4, 200))
def test_nobody_takes_what_is_anothers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
