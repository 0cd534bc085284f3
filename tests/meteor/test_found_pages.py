"""Pages of matches: the same bytes as the codec's, whatever their sizes; hostile ones are none."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import Profile, Record
from meteor.errors import MeteorError
from meteor.wire import codec
from meteor.wire.found_pages import FIRST_PAGE_BYTES, PAGE_BYTES, Pages, pack, readable, unpack
from meteor.wire.messages import Found
from meteor.wire.operations import FoundPage, Summary

LIGHT = Profile.parse("type=light")

founds = st.builds(
    Found,
    id=st.text(max_size=70),
    version=st.integers(0, 2**63),
    owner=st.text(max_size=20),
    ttl_ms=st.integers(0, 2**40),
    blob=st.binary(max_size=300),
)


def fields(found: Found) -> tuple[str, int, str, int, bytes]:
    return found.id, found.version, found.owner, found.ttl_ms, found.blob


@given(st.lists(founds))
def test_a_page_is_what_the_codec_writes_and_reads(some: list[Found]) -> None:
    page = pack([fields(one) for one in some])
    assert page == codec.encode(FoundPage(tuple(some)))
    assert [fields(one) for one in unpack(page)] == [fields(one) for one in some]
    assert codec.decode(page) == FoundPage(tuple(some))


@given(st.lists(founds), st.integers(0, 90_000))
def test_nothing_is_lost_between_pages(some: list[Found], large: int) -> None:
    pages = Pages()
    for one in [*some, Found("large", 1, "", 1, bytes(large)), *some]:
        pages.add(one)
    packed = pages.all()
    assert [one.id for one in readable(packed)] == [
        *(one.id for one in some), "large", *(one.id for one in some),
    ]  # fmt: skip
    for page in packed:
        assert len(page) <= PAGE_BYTES or len(unpack(page)) == 1


def test_the_first_page_is_small_and_they_grow() -> None:
    pages = Pages()
    for number in range(5000):
        pages.add(Found(f"d{number}.aa", 1, "", 1, bytes(64)))
    sizes = [len(page) for page in pages.all()]
    assert sizes[0] <= FIRST_PAGE_BYTES
    assert sizes[:-1] == sorted(sizes[:-1])
    assert PAGE_BYTES // 2 < max(sizes) <= PAGE_BYTES


@given(st.lists(st.floats(0.0, 1e6)), st.floats(0.0, 1e6))
def test_records_come_with_what_remains_of_their_time(ends_s: list[float], now: float) -> None:
    pages = Pages()
    records = [
        Record("data", f"s{at}", "o", at, f"s{at}.aa", "store", LIGHT, b"%d" % at, end_s)
        for at, end_s in enumerate(ends_s)
    ]
    pages.add_records(records, now)
    assert [fields(one) for one in readable(pages.all())] == [
        (one.id, one.version, "o", max(0, int((one.expires_s - now) * 1000)), one.blob)
        for one in records
    ]


HEAD = codec.encode(FoundPage(()))[:-1]


@pytest.mark.parametrize(
    "page",
    [
        b"", b"\x02", HEAD, HEAD + b"\x91", HEAD + b"\x91\xa1x", codec.encode(Summary(1)),
        HEAD + msgspec.msgpack.encode([("id", "version", "", 1, b"")]),
        HEAD + msgspec.msgpack.encode([("id", 1, "", 1)]),
        HEAD + msgspec.msgpack.encode([]) + b"\x00",
        HEAD + b"\xdd\xff\xff\xff\xff", HEAD + b"\x91" * 100_000,
        HEAD + msgspec.msgpack.encode([(b"\xff", 1, "", 1, b"")] * 3),
        HEAD + msgspec.msgpack.encode([("a.b", 1, "", 1, b"")] * 65_537),
    ],
)  # fmt: skip
def test_what_is_no_page_is_none(page: bytes) -> None:
    with pytest.raises(MeteorError):
        unpack(page)
    good = pack([("a.b", 1, "", 1, b"")])
    assert [one.id for one in readable([page, good, page])] == ["a.b"]


def test_a_page_of_a_later_version_is_read_by_the_codec() -> None:
    longer = msgspec.msgpack.encode(["FoundPage", [[("a.b", 1, "", 1, b"x", "new")], "new"]])
    (found,) = unpack(HEAD[:1] + longer)
    assert found == Found("a.b", 1, "", 1, b"x")
