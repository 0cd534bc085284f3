"""Fixtures of the client's tests."""

from __future__ import annotations

import pytest

from tests.meteor.fake_peer import FakeOverlay


@pytest.fixture
def overlay() -> FakeOverlay:
    """Two fake peers in virtual time."""
    fake = FakeOverlay()
    fake.add_peer()
    fake.add_peer()
    return fake
