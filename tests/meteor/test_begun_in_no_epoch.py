"""Word that a view began in an epoch that is none, as damaged or hostile peers say it, is no word.

Law of this file: a stranger says so to a copy that lived all the time and heard of nothing late.
"""

from __future__ import annotations

import random

import pytest

from chord import RemoteFault
from meteor.copies.takeover import Asked
from meteor.wire.copy_messages import Begun
from meteor.wire.view import EPOCHS
from tests.meteor.copies_world import (
    assert_whole_within,
    build,
    copies_of,
    index_of,
    store_some,
    view_of,
)
from tests.meteor.test_copy_keeper import Stranger, assert_nothing_happened


@pytest.mark.parametrize("epoch", [-1, EPOCHS, (1 << 63) - 1])
def test_a_copy_still_says_that_it_heard_of_nothing_so_late(epoch: int) -> None:
    """It said for as long as it ran that it may have heard of anything: a survivor beside it that
    has all was not believed, and what it had counted as lost."""
    overlay = build(3, 6, disk_s=0.001)
    stored = store_some(overlay, overlay.client(), random.Random(3), 4)
    assert_whole_within(overlay)
    view, copy = view_of(overlay, stored[0]), copies_of(overlay, stored[0])[0]
    piece = (index_of(stored[0]),) * 2
    stranger = Stranger(overlay)

    def is_behind() -> bool:
        heard = {copy.contact: copy.core.views.heard.of((piece,))}
        later = stranger.view((piece,), view.epoch + (1 << 30))
        return Asked((copy.contact,), (), True, heard=heard).is_behind(copy.contact, later, piece)

    assert is_behind()
    reply = stranger.ask(copy, Begun((stranger.view((piece,), epoch),)))
    assert is_behind()
    assert isinstance(reply, RemoteFault)
    assert_nothing_happened(overlay, stored)
