"""A copy that finds itself alone, and goes on: not with what it knows to be over itself."""

from __future__ import annotations

import pytest

from chord import Contact, replace
from meteor.copies.later_views import LaterViews
from meteor.wire.view import View
from tests.meteor.copies_world import build


@pytest.mark.parametrize("meanwhile", [False, True])
def test_who_was_told_of_a_later_view_does_not_step_up(
    meanwhile: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was cut off when somebody else took the interval over, and was just being made a copy of
    that one, or became one while it asked its neighbours, who knew nothing.  It went on with what
    it had of the earlier primary, in an epoch above that of who acknowledges meanwhile: and as it
    told only the dead, that one went on answering as well."""
    overlay = build(1, 8, disk_s=0.001)
    copy = overlay.peers[3]
    views = copy.core.views
    view = next(one.view for one in views.copies.values())
    later = View(Contact(5, "10.9.9.9:1"), 7, view.epoch + (1 << 30), view.intervals, ())
    later = replace(later, copies=(copy.contact,))
    known_of = LaterViews.known

    async def knows(self: LaterViews, asked: View) -> bool:
        known = await known_of(self, asked)
        if meanwhile:
            views.put(later)
        return known

    if not meanwhile:
        views.learn(later)
    for peer in overlay.living:
        if peer is not copy:
            peer.crash()
    monkeypatch.setattr(LaterViews, "known", knows)
    overlay.run(copy.core._handoff.step_up(view))
    assert not any(one.intervals == view.intervals for one in views.own.values())
