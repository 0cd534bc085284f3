"""How far the clients of others' interests are: the watermarks that primaries tell their copies.

Law of this file: bounded, in memory alone; who says it is the primary of something that is kept
here.  What is forgotten costs a client a notification that it has seen, and drops (DESIGN section
4).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from chord import Contact
from meteor.keeping.placement import Admission, Key
from meteor.keeping.shelf import Shelf
from meteor.keeping.views import COPIES_MAX, Views
from meteor.wire.copy_messages import Watermarks
from meteor.wire.view import View

MARKS_MAX: Final = 65_536
"""Watermarks kept for one primary ..."""
MARKS_LOOKED_AT: Final = 4
"""... of which so many are looked at where one more comes ..."""
MARKED_MAX: Final = COPIES_MAX
"""... and primaries, past ones included."""


class TheirMarks:
    """The watermarks that one peer keeps for the primaries of its copies."""

    def __init__(self, views: Views, shelf: Shelf) -> None:
        self._views, self._shelf = views, shelf
        self._marks: dict[int, Admission] = {}

    def of(self, primary_id: int) -> Admission:
        """How far the clients of a primary's interests are, as it said last."""
        return self._marks.get(primary_id, Admission())

    def on_watermarks(self, sender: Contact, message: object, _: float) -> None:
        """A primary tells them; who has no copy here is not listened to."""
        assert isinstance(message, Watermarks)
        if not any(primary == sender.id for primary, _ in self._views.copies):
            return
        marks = {(owner, stem): number for owner, stem, number in message.marks}
        self.note(sender.id, marks)

    def note(self, primary_id: int, news: Mapping[Key, int]) -> None:
        """A primary said so; of too many the oldest go."""
        if not news and primary_id not in self._marks:
            return
        self._marks[primary_id] = told = self._marks.pop(primary_id, Admission())  # the latest
        marks = told.watermarks
        for key, number in news.items():
            marks[key] = number
            if len(marks) > MARKS_MAX:
                self._make_room(marks)
        while len(self._marks) > MARKED_MAX:
            del self._marks[next(iter(self._marks))]

    def _make_room(self, marks: dict[Key, int]) -> None:
        """Forget one, of an interest that is gone as far as a few looks tell."""
        for _ in range(MARKS_LOOKED_AT):
            oldest = next(iter(marks))
            if oldest not in self._shelf.table:
                break
            marks[oldest] = marks.pop(oldest)
        del marks[next(iter(marks))]

    def forget(self, view: View) -> None:
        """With what its primary gained came pairs of earlier numbers, of which it has not told."""
        self._marks.pop(view.primary.id, None)
