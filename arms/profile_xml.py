"""Profiles in XML, as the report's figures 3.5 and 3.6 write them.

Law of this file: a closed set of attributes; siblings are never merged; text between elements,
comments and instructions are ignored (SPEC section 3; rule 30).  What can be read can be written
and read again as the same profile.
"""

from __future__ import annotations

from lxml import etree

from arms.errors import ProfileError, SelectorError
from arms.hardened_xml import (
    attributes_of,
    elements_of,
    name_of,
    parse_document,
    serialised,
)
from arms.plain_values import plain_attributes, read_plain
from arms.written import GROUP, LIMITS, NOTHING, Element, Written, count_attributes, is_name
from squid import LimitExceeded

_ELEMENT = frozenset({"value", "operator", "min", "max", "type", "connective", "axis"})
_GROUP = frozenset({"connective"})
_PROFILE = frozenset({"connective", "maxNumAttributes"})
_CONNECTIVES = {"and": False, "or": True}
_AXES = {"child": False, "descendant": True}


def parse_profile_xml(document: bytes) -> Element:
    """The elements of a `<profile>` document; raises `ProfileError` and `LimitExceeded`."""
    return read_profile(parse_document(document))


def read_profile(profile: etree._Element) -> Element:
    """The elements of a parsed `<profile>`; raises `ProfileError` and `LimitExceeded`."""
    if name_of(profile) != "profile":
        raise ProfileError(f"<{name_of(profile)}> where <profile> is expected")
    attributes = attributes_of(profile, _PROFILE)
    children = _children(profile, 1, [LIMITS.elements])
    if not children:
        raise ProfileError("an empty profile selects nothing in particular: name an attribute")
    any_of = _keyword(attributes, "connective", _CONNECTIVES, profile)
    root = Element("", NOTHING, children, any_of)
    _check_maximum(root, attributes.get("maxNumAttributes"))
    return root


def write_profile_xml(root: Element) -> bytes:
    """The `<profile>` document; raises `ProfileError` for characters that XML cannot hold."""
    return serialised(profile_element(root))


def profile_element(root: Element) -> etree._Element:
    """The `<profile>` element; raises as `write_profile_xml`."""
    profile = etree.Element("profile")
    if root.any_of:
        profile.set("connective", "or")
    _write_children(root, profile)
    return profile


# -- reading


def _children(parent: etree._Element, depth: int, budget: list[int]) -> tuple[Element, ...]:
    children: list[Element] = []
    for child in elements_of(parent):
        budget[0] -= 1
        if budget[0] < 0:
            raise LimitExceeded("profile elements", LIMITS.elements + 1, LIMITS.elements)
        if depth > LIMITS.depth:
            raise LimitExceeded("profile depth", depth, LIMITS.depth)
        children.append(_element(child, depth, budget))
    return tuple(children)


def _element(source: etree._Element, depth: int, budget: list[int]) -> Element:
    name = name_of(source)
    if name != GROUP and not is_name(name):
        raise ProfileError(f"<{name}>: names are letters, digits, '_', '-' and '.'")
    attributes = attributes_of(source, _GROUP if name == GROUP else _ELEMENT)
    children = _children(source, depth + 1, budget)
    if name == GROUP and not children:
        raise ProfileError("an anonymous group <_> without elements")
    any_of = _keyword(attributes, "connective", _CONNECTIVES, source)
    descendant = _keyword(attributes, "axis", _AXES, source)
    return Element(name, _value(name, attributes), children, any_of, descendant)


def _value(name: str, attributes: dict[str, str]) -> Written:
    try:
        return read_plain(
            attributes.get("value"), attributes.get("operator"), attributes.get("min"),
            attributes.get("max"), attributes.get("type"),
        )  # fmt: skip
    except SelectorError as error:
        raise ProfileError(f"<{name}>: {error.reason}; {error.cure}") from None


def _keyword(
    attributes: dict[str, str], name: str, known: dict[str, bool], source: etree._Element
) -> bool:
    word = attributes.get(name)
    if word is None:
        return False
    if word not in known:
        raise ProfileError(f"<{name_of(source)} {name}={word!r}>: known are {' and '.join(known)}")
    return known[word]


def _check_maximum(root: Element, maximum: str | None) -> None:
    if maximum is None:
        return
    if not (maximum.isascii() and maximum.isdigit() and len(maximum) < 10):
        raise ProfileError(f"maxNumAttributes={maximum!r} is not a count")
    count = count_attributes(root)
    if count > int(maximum):
        raise LimitExceeded("maxNumAttributes", count, int(maximum))


# -- writing


def _write_children(parent: Element, target: etree._Element) -> None:
    for child in parent.children:
        attributes = plain_attributes(child.value)
        try:
            written = etree.SubElement(target, child.name)
            for name, text in attributes.items():
                written.set(name, text)
        except ValueError:
            raise ProfileError(f"{child.name}: XML cannot hold these characters") from None
        if child.descendant:
            written.set("axis", "descendant")
        if child.any_of:
            written.set("connective", "or")
        _write_children(child, written)
