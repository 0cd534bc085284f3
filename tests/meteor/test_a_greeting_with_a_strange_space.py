"""A greeting brings a space to compare: whatever its text says, it costs that greeting alone.

An exception in a handler stops the simulation, and closes a peer in production."""

from __future__ import annotations

import pytest

from chord import RemoteFault
from meteor.wire.codec import wire_codec
from meteor.wire.messages import Greet
from sim.overlay import Overlay
from squid import KeywordSpace, SpaceError
from tests.meteor.building import SPACE
from tests.meteor.test_overlay_hostile import Stranger, assert_serving

DIGITS = "1" * 5_000
HUGE = "0x" + "f" * 3_800
AXIS = '[[dimensions]]\nname = "a"\nkind = "number"\nlow = 0\nhigh = {}\n'
STRANGE = {
    "more digits than Python reads": f'name = "x"\nbits = {DIGITS}\n',
    "more digits than Python writes": f'name = "x"\nmax_attributes = {HUGE}\n' + AXIS.format(1),
    "more than a float holds": 'name = "x"\n' + AXIS.format("0x" + "f" * 400),
    "what is negative, and below all floats": 'name = "x"\n' + AXIS.format("-1" + "0" * 400),
    "a name that is a table, and deep": 'name = "x"\n[[dimensions]]\nname'
    + ".a" * 1_500
    + " = 1\n",
    "a moment that no year has": 'name = "x"\n' + AXIS.format(HUGE).replace("number", "time"),
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_it_is_no_space(text: str) -> None:
    with pytest.raises(SpaceError):
        KeywordSpace.from_toml(text)


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_it_is_refused_and_the_peer_serves_on(text: str) -> None:
    overlay = Overlay(codec=wire_codec(), peers=3, space=SPACE, seed=3)
    fault = Stranger(overlay, address="").ask(Greet(b"another", text))
    assert isinstance(fault, RemoteFault)
    assert fault.kind == "SpaceMismatch"
    assert_serving(overlay)


@pytest.mark.parametrize("text", ["a." * 32_000, "a." * 1_000], ids=["long", "short"])
def test_what_takes_long_to_read_is_not_read(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a key of so many parts each is looked up from the first one on."""
    overlay = Overlay(codec=wire_codec(), peers=3, space=SPACE, seed=3)
    monkeypatch.delattr(KeywordSpace, "from_toml")
    fault = Stranger(overlay, address="").ask(Greet(b"another", text))
    assert isinstance(fault, RemoteFault)
    assert fault.kind == "SpaceMismatch"


def test_a_space_of_large_whole_numbers_is_read_back() -> None:
    text = 'name = "x"\n' + AXIS.format(10**300)
    space = KeywordSpace.from_toml(text)
    assert KeywordSpace.from_toml(space.to_toml()) == space
