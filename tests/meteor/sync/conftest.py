"""Two peers in a thread, and a blocking client of theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import meteor
from tests.meteor.building import SPACE


@pytest.fixture(scope="module")
def overlay() -> Iterator[meteor.sync.LocalOverlay]:
    with meteor.sync.LocalOverlay(peers=2, space=SPACE, ids=[1 << 158, 3 << 158]) as overlay:
        yield overlay


@pytest.fixture
def client(overlay: meteor.sync.LocalOverlay) -> Iterator[meteor.sync.Client]:
    with overlay.connect() as client:
        yield client
        client.delete_data("temperature=*", everywhere=True)
        client.delete_interest("temperature=*", everywhere=True)
