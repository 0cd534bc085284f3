"""Hostile documents: refused with a typed error, whatever they try (transport note, section 3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import (
    LimitExceeded,
    MeteorError,
    Profile,
    ProfileError,
    SelectorError,
    XmlLimits,
    parse_message,
)
from tests.arms.test_message_xml import FIGURE_3_6, SPECIMEN

HEAD = b"<header><profile><a/></profile></header><action>store</action>"
LAUGHS = b"<!ENTITY a0 'ha'>" + b"".join(
    f"<!ENTITY a{i} '{f'&a{i - 1};' * 10}'>".encode() for i in range(1, 10)
)


def message(payload: bytes, prolog: bytes = b"") -> bytes:
    return prolog + b"<message>" + HEAD + b"<payload>" + payload + b"</payload></message>"


@pytest.mark.parametrize(
    "document",
    [
        message(b"&a9;", b"<!DOCTYPE m [" + LAUGHS + b"]>"),
        message(b"&a;" * 1000, b"<!DOCTYPE m [<!ENTITY a '" + b"x" * 40000 + b"'>]>"),
        message(b"&e;", b"<!DOCTYPE m [<!ENTITY e SYSTEM 'file:///etc/hostname'>]>"),
        message(b"", b"<!DOCTYPE m [<!ENTITY % p SYSTEM 'file:///etc/hostname'> %p;]>"),
        message(b"", b"<!DOCTYPE m SYSTEM 'http://127.0.0.1:9/x.dtd'>"),
        message(b"", b"<!DOCTYPE m PUBLIC 'x' 'http://127.0.0.1:9/x.dtd'>"),
        message(b"", b"<!DOCTYPE m>"),
        message(b"", b"<!DOCTYPE m []>"),
        message(b"&e;"),
        message(b"<a>" * 300 + b"</a>" * 300),
        message(b"</payload></message><message><payload>"),
        message(b"<x:a/>"),
        message(b"\xff"),
        message(b"\x00"),
        message(b"").decode().encode("utf-16"),
        message(b"", b"<?xml version='1.0' encoding='ISO-8859-1'?>"),
        message(b"", b"<?xml version='1.0' encoding='UTF-7'?>"),
        message(b"", b"\xef\xbb\xbf<!DOCTYPE m>"),
        b"",
        b" ",
        b"<",
        b"\x00" * 100,
        b"{}",
        b"<message>" * 20,
    ],
)
def test_attack_is_refused(document: bytes) -> None:
    with pytest.raises(ProfileError):
        parse_message(document)
    with pytest.raises(ProfileError):
        Profile.from_xml(document)


@pytest.mark.parametrize(
    ("document", "name"),
    [
        (message(b"x" * (1 << 16)), "document bytes"),
        (message(b"x" * 20_000_000), "document bytes"),
        (message(b"<a>" * 39 + b"</a>" * 39), "document depth"),
        (message(b"<a/>" * 1000), "document elements"),
        (b"<message " + b" ".join(b"a%d=''" % i for i in range(3000)) + b"/>",
         "document attributes"),
    ],
)  # fmt: skip
def test_size_is_limited(document: bytes, name: str) -> None:
    with pytest.raises(LimitExceeded) as refused:
        parse_message(document)
    assert refused.value.name == name


@pytest.mark.parametrize(
    ("children", "name"),
    [
        ("<a/>" * 65, "profile elements"),
        ("<a>" * 17 + "</a>" * 17, "profile depth"),
        (f'<a value="{"x" * 5000}"/>', "value characters"),
        (f'<a value="{"x" * 2100}"/><b value="{"y" * 2100}"/>', "selector bytes"),
    ],
)
def test_profiles_are_limited(children: str, name: str) -> None:
    with pytest.raises(LimitExceeded) as refused:
        Profile.from_xml(f"<profile>{children}</profile>".encode())
    assert refused.value.name == name


def test_the_limits_are_the_callers() -> None:
    parse_message(message(b"<a/>" * 10), XmlLimits(elements=20))
    with pytest.raises(LimitExceeded):
        parse_message(message(b"<a/>" * 10), XmlLimits(elements=14))
    with pytest.raises(LimitExceeded):
        parse_message(SPECIMEN, XmlLimits(bytes=100))


@pytest.mark.parametrize(
    "children",
    [
        '<a value="1" min="2"/>',
        '<a value="1" max="2"/>',
        '<a operator="=" min="2"/>',
        '<a operator=">="/>',
        '<a type="number"/>',
        '<a operator="!=" value="1"/>',
        '<a operator="~" value="1"/>',
        '<a type="float" value="1"/>',
        '<a type="number" value="hot"/>',
        '<a type="number" value="2004-04-01T00:00:00Z"/>',
        '<a type="time" value="hot"/>',
        '<a type="number" value="1*"/>',
        '<a connective="xor"><b/><c/></a>',
        '<a axis="parent"/>',
        '<a operator=">=" value="8*"/>',
        '<a operator=">" value="abc"/>',
        '<a operator=">=" value="1..2"/>',
        '<a value="F*t"/>',
        '<a type="word" value="F*t"/>',
        '<a value="1...2"/>',
        '<a value="x\\"/>',
        '<a value=".."/>',
        '<a min="1" max="*"/>',
        '<a min="2" max="1"/>',
        '<a value="30..20"/>',
        "<_/>",
        '<_ value="1"/>',
        '<_ axis="descendant"><a/></_>',
        "<a.b./>",
        "<a..b/>",
        '<a constructor="x"/>',
    ],
)
def test_the_closed_set_of_attributes(children: str) -> None:
    with pytest.raises((ProfileError, SelectorError)):
        Profile.from_xml(f"<profile>{children}</profile>".encode())


@pytest.mark.parametrize("attribute", ['maxNumAttributes="x"', 'maxNumAttributes="-1"', 'size="1"'])
def test_the_attributes_of_a_profile(attribute: str) -> None:
    with pytest.raises(ProfileError):
        Profile.from_xml(f"<profile {attribute}><a/></profile>".encode())


@given(st.binary(max_size=200))
def test_random_bytes_do_no_harm(noise: bytes) -> None:
    with pytest.raises(MeteorError):
        parse_message(noise)


@given(st.integers(0, len(FIGURE_3_6) - 1), st.binary(max_size=3), st.integers(0, 20))
def test_damaged_messages_are_read_or_refused(at: int, noise: bytes, cut: int) -> None:
    damaged = FIGURE_3_6[:at] + noise + FIGURE_3_6[at + cut :]
    try:
        parse_message(damaged)
    except (ProfileError, LimitExceeded):
        return


def test_no_other_parser_is_made() -> None:
    package = Path(__file__).parent.parent.parent / "arms"
    users = [
        path.name for path in sorted(package.glob("*.py"))
        if "XMLParser(" in path.read_text() or ".fromstring(" in path.read_text()
    ]  # fmt: skip
    assert users == ["hardened_xml.py"]
