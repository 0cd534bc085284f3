"""What REST decides before it asks anybody: forms, conditions, parameters, who the caller is."""

from __future__ import annotations

from contextlib import suppress
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meteor
from meteor.rest.conditional import entity_tag, http_date, is_unchanged
from meteor.rest.config import RestConfig
from meteor.rest.identity import Caller, read_caller
from meteor.rest.negotiation import JSON, XML, NotAcceptable, chosen_form
from meteor.rest.parameters import Parameter, ParameterError, read_parameters

# -- forms


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, JSON),
        ("", JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        ("application/xml", XML),
        ("text/xml", XML),
        ("Application/XML", XML),
        ("application/json;q=0.5, application/xml", XML),
        ("application/json;q=0.5, application/xml;q=0.4", JSON),
        ("*/*;q=0.1, application/xml;q=0.2", XML),
        ("application/json;q=0, */*", XML),
        ("text/html, application/xhtml+xml, */*;q=0.8", JSON),
        ("application/json; q=0.300, application/xml; q=0.301", XML),
        ("application/xml;charset=utf-8;q=0.9, application/json;q=0.8", XML),
        (", ,;;, application/xml", XML),
    ],
)
def test_the_form_that_the_caller_prefers(accept: str | None, chosen: str) -> None:
    assert chosen_form(accept, (JSON, XML)) == chosen


@pytest.mark.parametrize(
    "accept",
    ["text/html", "application/json;q=0", "*/*;q=0", "garbage", "application/json;q=2", "image/*"],
)
def test_what_nobody_wants_is_refused_with_what_there_is(accept: str) -> None:
    with pytest.raises(NotAcceptable, match="application/json, application/xml"):
        chosen_form(accept, (JSON, XML))


@given(st.text(max_size=80))
def test_no_header_breaks_the_choice(accept: str) -> None:
    with suppress(NotAcceptable):
        assert chosen_form(accept, (JSON, XML)) in (JSON, XML)


# -- conditions


def test_a_tag_decides_alone() -> None:
    tag = entity_tag(b"one")
    old = http_date(0)
    assert is_unchanged(tag, 5.0, f'"x", {tag}', None)
    assert is_unchanged(tag, 5.0, f"W/{tag}", None)
    assert is_unchanged(entity_tag(b"one", weak=True), None, tag, None)
    assert is_unchanged(tag, 5.0, "*", None)
    assert not is_unchanged(tag, 5.0, '"x"', http_date(10)), "the tag says it changed"
    assert not is_unchanged(tag, 5.0, tag.strip('"'), None), "without quotes it is no tag"
    assert not is_unchanged(tag, 5.0, None, old)
    assert is_unchanged(tag, 5.0, None, http_date(5))
    assert is_unchanged(tag, 5.9, None, http_date(5)), "dates have whole seconds"


@pytest.mark.parametrize(
    "since",
    [
        "",
        "yesterday",
        "Fri, 99 Foo 2026 99:99:99 GMT",
        "Fri, 01 Jan 99999999999 00:00:00 GMT",
        "Fri, 01 Jan 2026 00:00:00 +99999999999999999999",
    ],
)
def test_a_malformed_date_is_no_condition(since: str) -> None:
    assert not is_unchanged('"a"', 5.0, None, since)


def test_without_a_moment_of_change_no_date_says_unchanged() -> None:
    assert not is_unchanged('"a"', None, None, http_date(10**9))


@given(st.integers(0, 2**33))
def test_a_date_reads_back(moment_s: int) -> None:
    assert parsedate_to_datetime(http_date(moment_s)).timestamp() == moment_s


# -- parameters

DECLARED = (
    Parameter("select", "text", "", required=True, example="a%3D1"),
    Parameter("limit", "integer", "", low=1, high=10),
    Parameter("timeout", "number", "", low=0.0, exclusive_low=True, high=60.0),
    Parameter("dry_run", "flag", ""),
    Parameter("mode", "choice", "", choices=("within", "overlap")),
)


def test_parameters_are_read_as_declared() -> None:
    found = read_parameters("select=a%3D1+b&limit=3&timeout=1e1&dry_run=1&mode=overlap", DECLARED)
    assert found.text("select") == "a=1 b"
    assert found.integer("limit", 7) == 3
    assert found.number("timeout") == 10.0
    assert found.flag("dry_run")
    assert found.optional("mode") == "overlap"
    assert read_parameters("select=", DECLARED).integer("limit", 7) == 7


@pytest.mark.parametrize(
    ("query", "said", "position"),
    [
        ("", "'select' is missing: .select=a%3D1", None),
        ("select=a&x=1", "unknown parameter 'x'; this route takes dry_run, limit", None),
        ("select=a&select=a", "given twice", None),
        ("select=a%3", "no percent-encoding", 8),
        ("select=a%zz", "no percent-encoding", 8),
        ("sel%zzect=a", "no percent-encoding", 3),
        ("select=%c3%28", "not UTF-8", 7),
        ("select=a&limit=1.5", "not a whole number", None),
        ("select=a&limit=-1", "not a whole number", None),
        ("select=a&timeout=1_0", "not a number", None),
        ("select=a&timeout=nan", "not a number", None),
        ("select=a&dry_run=yes", "neither true nor false", None),
        ("select=a&mode=near", "none of within, overlap", None),
    ],
)
def test_what_cannot_be_read_is_refused(query: str, said: str, position: int | None) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        read_parameters(query, DECLARED)
    assert getattr(caught.value, "position", None) == position


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=11", "timeout=0", "timeout=61", "timeout=1e999", "&".join("a" * 99)]
)
def test_limits_are_named(query: str) -> None:
    with pytest.raises(meteor.LimitExceeded):
        read_parameters(f"select=a&{query}", DECLARED)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_whatever_is_encoded_reads_back(text: str) -> None:
    for query in (urlencode({"select": text}), f"select={quote(text, safe='')}"):
        assert read_parameters(query, DECLARED).text("select") == text


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_no_query_breaks_the_reader(query: str) -> None:
    with suppress(ParameterError, meteor.LimitExceeded):
        read_parameters(query, DECLARED)


# -- who asks

TOKEN = "sixteen-characters-and-more"
CLOSED = RestConfig(token=TOKEN)
OPEN = RestConfig()
HERE, THERE = "127.0.0.1", "192.0.2.7"
PAGE = {"Host": "127.0.0.1:7400", "Origin": "http://127.0.0.1:7400"}
PAGE_THERE = {"Host": "192.0.2.1:7400", "Origin": "http://192.0.2.1:7400"}
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def caller(headers: dict[str, str], remote: str, config: RestConfig = OPEN) -> Caller:
    return read_caller(headers, remote, ("peer.example",), config)


@pytest.mark.parametrize(
    ("headers", "remote", "config", "access"),
    [
        ({}, HERE, OPEN, "write"),
        ({}, "::1", OPEN, "write"),
        ({}, "::ffff:127.0.0.1", OPEN, "write"),
        ({}, THERE, OPEN, "write"),  # a program may do what a link may
        ({}, THERE, CLOSED, "write with token"),
        ({}, HERE, CLOSED, "write"),
        (BEARER, THERE, CLOSED, "write"),
        ({"Authorization": "Bearer wrong"}, THERE, CLOSED, "write with token"),
        ({"Authorization": f"Basic {TOKEN}"}, THERE, CLOSED, "write with token"),
        (BEARER, THERE, OPEN, "write"),  # there is no token to show: a program
        (PAGE, HERE, OPEN, "write"),
        (PAGE_THERE, THERE, OPEN, "read"),  # the dashboard off loopback
        (PAGE_THERE, THERE, CLOSED, "write with token"),
        (PAGE_THERE | BEARER, THERE, CLOSED, "write"),
        ({"X-Forwarded-For": "1.2.3.4"}, HERE, CLOSED, "write with token"),  # by a proxy
        (PAGE | {"Forwarded": "for=1.2.3.4"}, HERE, OPEN, "read"),
        ({"Host": "127.0.0.1:7400", "Origin": "http://evil.example"}, HERE, OPEN, "read"),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, HERE, OPEN, "read"),  # rebound
        ({"Host": "127.0.0.1:7400", "Origin": "null"}, HERE, OPEN, "read"),
        ({"Host": "127.0.0.1:7400", "Sec-Fetch-Site": "cross-site"}, HERE, OPEN, "read"),
        ({"Host": "127.0.0.1:7400", "Sec-Fetch-Site": "same-origin"}, HERE, OPEN, "write"),
        ({"Host": "peer.example:7400", "Origin": "http://peer.example:7400"}, HERE, OPEN, "write"),
        ({"Host": "[::1]:7400", "Origin": "http://[::1]:7400"}, "::1", OPEN, "write"),
        ({"Host": "localhost:7400", "Origin": "http://localhost:9999"}, HERE, OPEN, "read"),
    ],
)
def test_what_a_caller_may_do(
    headers: dict[str, str], remote: str, config: RestConfig, access: str
) -> None:
    assert caller(headers, remote, config).access(config) == access


def test_a_configured_origin_is_trusted() -> None:
    config = RestConfig(cors_origins=("https://panel.example",))
    headers = {"Host": "127.0.0.1:7400", "Origin": "https://panel.example"}
    assert caller(headers, HERE, config).access(config) == "write"


@pytest.mark.parametrize("remote", [None, "", "unknown", "127.0.0.1.evil"])
def test_an_unknown_address_is_not_this_machine(remote: str | None) -> None:
    assert not read_caller({}, remote, (), OPEN).is_local


def test_a_token_is_neither_short_nor_shown() -> None:
    assert TOKEN not in repr(CLOSED)
    with pytest.raises(ValueError, match="at least 16"):
        RestConfig(token="short")


@pytest.mark.parametrize("origin", ["*", "example.org", "ftp://a", "https://a/b", "https://"])
def test_an_origin_is_one(origin: str) -> None:
    with pytest.raises(ValueError, match="no origin"):
        RestConfig(cors_origins=(origin,))
