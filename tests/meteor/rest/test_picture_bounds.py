"""The picture of the space looks at so many records of its peer and no more, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace as Some
from typing import Any, cast

import pytest

from meteor.dashboard.curve_picture import plane_of
from meteor.rest import overlay
from meteor.rest.config import RestConfig
from squid import Box
from tests.meteor.building import SPACE

POINT = Box((0, 0, 0), (0, 0, 0))


@pytest.mark.parametrize(
    "record",
    [
        Some(kind="data", region=POINT, visible_to=()),
        Some(kind="interest", region=POINT, visible_to=()),
        Some(kind="data", region=POINT, visible_to=("somebody",)),
    ],
    ids=["another peer's", "an interest", "hidden"],
)
def test_what_is_not_shown_is_passed_by_in_bounded_time(record: Any) -> None:
    looked_at = 0

    def records() -> Iterator[Any]:
        nonlocal looked_at
        for _ in range(50_000):
            looked_at += 1
            yield record

    store = Some(
        records=records, public_records=lambda: (one for one in records() if not one.visible_to)
    )
    shelf = Some(store=store, lives_in=lambda record, held: False)
    peer = Some(core=Some(holdings=Some(held=()), shelf=shelf, space=SPACE), space=SPACE)
    shown = overlay.Overlay(cast("Any", peer), cast("Any", None), RestConfig(), 0.0)
    assert shown._points(plane_of(SPACE, None, None, 4, None)) == []
    assert looked_at <= 10_000
