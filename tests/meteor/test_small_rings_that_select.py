"""Small rings as in `test_small_rings_at_once`, from which is deleted by selectors as well.

What a delete selects of its poster's, and nobody touched since before it, is gone once that is
acknowledged; what it does not select stays, and so does what is stored after it was answered,
however it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from meteor import Client
from meteor.wire.record_id import stem_of
from tests.meteor.building import Attributes, draw_data
from tests.meteor.copies_world import seeds
from tests.meteor.test_small_rings_at_once import BusyRing, Touched
from tests.meteor.test_small_rings_whose_interests_move import selects

SELECTORS = (
    "type=temp*", "temperature=-20..90", "type=light humidity>=0", "humidity<=60",
    "type=zürich", "temperature=20..40",
)  # fmt: skip


@dataclass(frozen=True)
class Delete:
    """One by a selector, and whose records it takes."""

    selector: str
    owner: str

    def takes(self, content: Attributes, owner: str) -> bool:
        return self.owner == owner and selects(self.selector, content)


@dataclass
class Said:
    """What a record may say by now, and whose it is."""

    contents: list[Attributes]
    owners: set[str]

    def may_be_of(self, delete: Delete) -> bool:
        return any(map(delete.takes, *self.all_of_it()))

    def is_of(self, delete: Delete) -> bool:
        return all(map(delete.takes, *self.all_of_it()))

    def all_of_it(self) -> tuple[list[Attributes], list[str]]:
        """What it may say, each beside whose it may be."""
        both = [(one, owner) for one in self.contents for owner in self.owners]
        return [one for one, _ in both], [owner for _, owner in both]


class SelectingRing(BusyRing):
    """A ring of which much is asked at once, and from which is deleted by selectors."""

    deleted_below = 0.2
    """The draw below which a delete begins."""

    def __init__(self, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.said: dict[str, Said] = {}
        """Of every record, by its stem."""
        self.drawn_contents: dict[int, Attributes] = {}
        self.under_way: list[Delete] = []
        """Deletes that are not answered yet."""
        self.alongside: dict[int, list[Delete]] = {}
        """Of every store and replace on its way, the deletes that were beside it."""
        self.replaced: Touched | None = None
        self.left_open: set[str] = set()
        """What a delete may have taken that was not carried out, or by too few."""
        super().__init__(seed, monkeypatch)

    def begin(self) -> None:
        if self.drawn.random() >= self.deleted_below:
            super().begin()
            return
        client = self.drawn_client()
        if client is not None:
            work = self.delete(client, self.drawn.choice([0.4, 2, 6]))
            self.running.append(self.overlay.kernel.spawn(self.suppressing(work)))

    def owner_of(self, client: Client) -> str:
        """Whose is what this client posts: here nobody's."""
        del client
        return ""

    def draw_content(self, number: int) -> Attributes:
        content = self.drawn_contents[number] = draw_data(self.drawn)
        self.alongside[number] = list(self.under_way)
        if self.replaced is not None:
            said = self.said[stem_of(self.replaced.id)]
            said.contents.append(content)
            if any(said.may_be_of(one) for one in self.under_way):
                self.replaced.state = "unsure"
        return content

    async def store(self, client: Client, timeout_s: float) -> None:
        number, owner, self.replaced = self.number + 1, self.owner_of(client), None
        await super().store(client, timeout_s)
        content, beside = self.drawn_contents[number], self.alongside.pop(number)
        for stem, record in self.records.items():
            if stem not in self.said:
                self.said[stem] = Said([content], {owner})
                if any(one.takes(content, owner) for one in beside):
                    record.state = "unsure"

    async def replace(self, record: Touched, client: Client, timeout_s: float) -> None:
        number, self.replaced = self.number + 1, record
        stem = stem_of(record.id)
        said = self.said[stem]
        await super().replace(record, client, timeout_s)
        content, beside = self.drawn_contents[number], self.alongside.pop(number)
        if record.least != number:
            return
        may_be_taken = any(said.may_be_of(one) for one in beside)
        said.contents = [content]
        if not (may_be_taken or record.is_unknown or stem in self.left_open):
            record.state = "kept"

    async def delete(self, client: Client, timeout_s: float) -> None:
        delete = Delete(self.drawn.choice(SELECTORS), self.owner_of(client))
        self.under_way.append(delete)
        for others in self.alongside.values():
            others.append(delete)
        may, surely = dict[str, Touched](), list[tuple[Touched, int]]()
        for stem, record in sorted(self.records.items()):
            said = self.said[stem]
            if record.state == "gone" or not said.may_be_of(delete):
                continue
            record.touched, record.state, may[stem] = record.touched + 1, "unsure", record
            if not record.is_busy and said.is_of(delete):
                surely.append((record, record.touched))
        post = client.delete_data(delete.selector, everywhere=True, timeout=timeout_s)
        receipt, error, counts = await self.counted(client, post)
        self.under_way.remove(delete)
        if error is not None or not receipt.complete or not counts:
            self.left_open |= may.keys()
            return
        for record, touched in surely:
            if record.touched == touched and not record.is_unknown:
                record.state = "gone"


def assert_all_holds(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    SelectingRing(seed, monkeypatch).to_the_end(range(6, 16), 7)


@pytest.mark.parametrize("seed", seeds(4, 200))
def test_what_is_selected_goes_and_nothing_else(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_all_holds(seed, monkeypatch)
