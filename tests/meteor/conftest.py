"""Fixtures of the tests of clients and links."""

from __future__ import annotations

import pytest

from tests.meteor.fake_peer import FakeOverlay
from tests.meteor.websocket_peers import make as make


@pytest.fixture
def overlay() -> FakeOverlay:
    """Two fake peers in virtual time."""
    fake = FakeOverlay()
    fake.add_peer()
    fake.add_peer()
    return fake
