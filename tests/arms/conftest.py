"""A rendezvous to which tests post."""

from __future__ import annotations

from random import Random

import pytest

from arms import Rendezvous, Store


@pytest.fixture
def peer() -> Rendezvous:
    return Rendezvous(Store(), Random(7))
