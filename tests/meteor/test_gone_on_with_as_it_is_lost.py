"""Who goes on with what lies here, or has it brought back, does so with all of it: that its past is
lost to somebody else, who says so in that moment, clears nothing of it away.

Found in small rings that fell whole and came back, in each of which two went on at once, one of
them with nothing: what was acknowledged lay in the attic of the other one, and answers said that
they were complete (2 of 600 seeds).
"""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from chord import Contact
from meteor.keeping.views import Copy, Views
from meteor.wire.copy_messages import Instated, Learn
from meteor.wire.view import View
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    index_of,
    is_shown,
    store_some,
)
from tests.meteor.test_copy_keeper import Stranger

OWN, OTHER = Contact(1, "10.0.0.1:1"), Contact(2, "10.0.0.2:1")
PART = ((0, 99),)


@pytest.mark.parametrize("is_own", [True, False])
def test_who_lost_the_past_is_no_copy_of_who_knows_it(is_own: bool) -> None:
    """Its epoch is later than the one that is taken over, and nothing from before is there."""
    views, lost = Views(OWN.id), View(OWN if is_own else OTHER, 1, 30, PART, (), ((10, 19),))
    if is_own:
        views.put_own(lost)
    else:
        views.copies[lost.key] = Copy(lost, whole=True)
    later = View(Contact(3, "10.0.0.3:1"), 2, 31, PART, (OWN,))
    assert not views.in_sync(later, 28)
    assert views.in_sync(replace(later, intervals=((20, 99),)), 28)
    assert views.in_sync(replace(later, lost=((10, 19),)), 28)


def test_nothing_is_cleared_away_as_somebody_goes_on_with_it() -> None:
    overlay = build(5, 6, disk_s=0.001)
    (stored, *_) = store_some(overlay, overlay.client(), random.Random(5), 10)
    assert_whole_within(overlay)
    copy, part = copies_of(overlay, stored)[0], ((index_of(stored),) * 2,)
    stranger, keeper = Stranger(overlay), copy.core._keeper
    lost = View(stranger.contact, 7, 1 << 60, part, (copy.contact,), part)

    async def goes_on() -> None:
        async with keeper.brought_back(part, 1):
            reply = await stranger.runtime.call(copy.contact, Learn(lost), 5.0)
            assert reply == Instated(known=False)
            assert not await keeper.clear(part)
            assert is_shown(copy, stored)

    overlay.run(goes_on())
    assert stranger.ask(copy, Learn(lost)) == Instated()
    assert not is_shown(copy, stored)
