"""SPEC section 2 over real peers: every kind of dimension, written in TOML, asked in every form."""

from __future__ import annotations

import pytest

import meteor
from meteor import KeywordSpace, between, prefix
from meteor.wire.codec import wire_codec
from sim.overlay import Overlay

HOUSE = KeywordSpace.from_toml(
    """
    name = "house"
    extra = "allow"

    [[dimensions]]
    name = "type"
    kind = "word"

    [[dimensions]]
    name = "wind/direction"
    kind = "word"

    [[dimensions]]
    name = "wind/speed"
    kind = "number"
    low = 0
    high = 100

    [[dimensions]]
    name = "since"
    kind = "time"
    low = 2000-01-01T00:00:00Z
    high = "2040-01-01T00:00:00Z"

    [[dimensions]]
    name = "level"
    kind = "choice"
    values = ["low", "mid", "high"]
    """
)
GRID = KeywordSpace.from_toml(
    """
    name = "grid"
    bits = 16

    [[dimensions]]
    name = "memory"
    kind = "number"
    low = 1
    high = 1048576
    scale = "log"
    unit = "MB"

    [[dimensions]]
    name = "type"
    kind = "word"

    [[dimensions]]
    name = "bandwidth"
    kind = "number"
    low = 1
    high = 100000
    scale = "log"
    unit = "Mbps"
    """
)

DATA = {
    "north": "type=mast wind(direction=north speed=12) since=2004-04-01 level=mid",
    "south": "type=mast wind(direction=south speed=3.5) since=2024-02-29T12:00:00+02:00 level=high",
    "noon": "type=clock since=1080820800 level=low",
    "phone": "type=555-0123 level=low",
    "zürich": "type=Zürich level=mid city=Zürich",
    "tokyo": "type=東京 level=mid room=20",
    "blank": 'type="two words" level=high note="20-30"',
    "early": "type=relic since=1970-01-01",
    "storm": "type=mast wind/speed=140",
}

SELECTED = {
    "type=mast": {"north", "south", "storm"},
    "wind/direction=n*": {"north"},
    "wind(direction=n* speed>=12)": {"north"},
    "wind/speed>12": {"storm"},
    "wind/speed>=12": {"north", "storm"},
    "wind/speed=3..4": {"south"},
    "wind/speed=3-4": {"south"},
    "wind/speed=100..120": set(),
    "wind/speed=130..150": {"storm"},
    "since=2004-04-01": {"north"},
    "since=2004-04-01..2004-04-02": {"north", "noon"},
    "since=2004-04-01T12:00:00Z": {"noon"},
    "since=2024-02-29T10:00:00Z": {"south"},
    "since>2004-04-01": {"noon", "south"},
    "since<=1970-01-01": {"early"},
    "level>=mid": {"north", "south", "zürich", "tokyo", "blank"},
    "level=low..mid": {"north", "noon", "phone", "zürich", "tokyo"},
    "level=HIGH": {"south", "blank"},
    "type=555-0123": {"phone"},
    "type=555-*": {"phone"},
    "type=ZÜRICH": {"zürich"},
    "type=zü*": {"zürich"},
    "type=a..ö": {"north", "south", "noon", "zürich", "early", "storm", "blank"},
    "type=東*": {"tokyo"},
    "type>=z": {"zürich", "tokyo"},
    'type="two words"': {"blank"},
    r"type=two\ w*": {"blank"},
    "level=mid room=20": {"tokyo"},
    "level=mid room=2*": set(),
    "level=mid | type=clock": {"north", "noon", "zürich", "tokyo"},
    "level=* wind (type=mast | type=clock)": {"north", "south"},
    'level=high note="20-30"': {"blank"},
    "level=high note=20*": {"blank"},
    "level=high note=20..30": set(),
    "level=mid city=zür*": {"zürich"},
    "(mast, *, 3-4, *, *)": {"south"},
    "(mast, n*, *, *, low..mid)": {"north"},
}


@pytest.fixture(scope="module")
def house() -> tuple[Overlay, meteor.Client]:
    overlay = Overlay(codec=wire_codec(), peers=12, space=HOUSE, seed=8)
    client = overlay.client()
    for name, text in DATA.items():
        overlay.run(client.store(text, name))
    return overlay, overlay.client(peer=5)


@pytest.mark.parametrize("selector", SELECTED)
def test_a_selector_finds_what_it_says(
    house: tuple[Overlay, meteor.Client], selector: str
) -> None:
    overlay, client = house
    found = overlay.run(client.retrieve(selector, everywhere=True).all())
    assert sorted(match.text for match in found) == sorted(SELECTED[selector])
    for match in found:  # what was written comes back as it was written
        assert str(match.profile) == str(meteor.Profile.parse(DATA[match.text], HOUSE))


@pytest.mark.parametrize("selector", SELECTED)
def test_an_interest_is_told_of_what_a_retrieve_finds(
    house: tuple[Overlay, meteor.Client], selector: str
) -> None:
    """Whichever comes first: here the data."""
    overlay, client = house

    async def told() -> list[str]:
        async with client.notify_data(selector, everywhere=True) as interest:
            assert interest.receipt is not None
            count = interest.receipt.matches
            return [(await interest.recv(timeout=5)).text for _ in range(count)]

    assert sorted(overlay.run(told())) == sorted(SELECTED[selector])


def test_mappings_say_the_same_without_quoting(house: tuple[Overlay, meteor.Client]) -> None:
    overlay, client = house
    for mapping, expected in [
        ({"type": "two words"}, {"blank"}),
        ({"type": prefix("two w")}, {"blank"}),
        ({"wind": {"speed": between(3, 4)}}, {"south"}),
        ({"wind": {"speed": between(12, None), "direction": meteor.ANY}}, {"north"}),
        ({"type": "555-0123", "level": "low"}, {"phone"}),
        ({"since": between("2004-04-01", "2004-04-02")}, {"north", "noon"}),
        ({"level": between("mid", None), "note": "20-30"}, {"blank"}),
    ]:
        found = overlay.run(client.retrieve(meteor.profile(mapping)).all())
        assert {match.text for match in found} == expected, mapping
        assert {match.text for match in overlay.run(client.retrieve(mapping).all())} == expected


RESOURCES = {
    "small": "(128MB, linux, 100Mbps)",
    "fits": "(384MB, linux, 100Mbps)",
    "edge": "(512MB, bsd, 10Mbps)",
    "slow": "(300MB, linux, 9999kbps)",
    "big": "(1GB, linux, 1Gbps)",
    "bare": "(256, solaris, 10)",
}


@pytest.mark.parametrize(
    "transport", ["memory", pytest.param("websocket", marks=pytest.mark.sockets)]
)
async def test_the_reports_resource_query_runs_with_its_units(transport: str) -> None:
    """`(256-512MB, *, 10Mbps-*)`, and other ways to say it; a unit is converted, or left out."""
    async with meteor.LocalOverlay(peers=5, space=GRID, transport=transport) as overlay:  # type: ignore[arg-type]
        client = await overlay.connect(2)
        for name, text in RESOURCES.items():
            await client.store(text, name)
        for selector in [
            "(256-512MB, *, 10Mbps-*)",
            "(256..512MB, *, 10..)",
            "(256-512, *, 10-*)",
            "(256MB-0.512GB, *, 0.01Gbps-*)",
            "memory=256-512MB bandwidth>=10Mbps",
        ]:
            found = await client.retrieve(selector)
            assert sorted(match.text for match in found) == ["bare", "edge", "fits"], selector
        found = await client.retrieve("(*, lin*, *-100Mbps)")
        assert sorted(match.text for match in found) == ["fits", "slow", "small"]
        with pytest.raises(meteor.TypeMismatch, match=r"memory.*5km.*unit like MB"):
            client.retrieve("memory=5km")
