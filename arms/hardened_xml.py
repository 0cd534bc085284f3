"""The only XML parser of Meteor: no entities, no DTD, no network, bounded before it is believed.

Law of this file: bytes are counted before they are parsed, any DOCTYPE is refused, and depth and
elements are counted before anything is built from the tree (transport note, section 3).  Comments
and processing instructions are dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from arms.errors import ProfileError
from squid import LimitExceeded


@dataclass(frozen=True, slots=True)
class XmlLimits:
    """What a document may cost: bytes, levels of elements, elements, and attributes in all."""

    bytes: int = 1 << 16
    depth: int = 40
    elements: int = 1000
    attributes: int = 2000


XML_LIMITS = XmlLimits()

_NO_FILE = re.compile(r" \(<string>, line \d+\)$")
"""What the parser appends where it is given no file."""
_ENCODINGS = frozenset({"", "UTF-8", "ASCII", "US-ASCII"})


def parse_document(document: bytes, limits: XmlLimits = XML_LIMITS) -> etree._Element:
    """The root element of a document in UTF-8.

    Raises `ProfileError` for what is not well-formed, has a DOCTYPE or another encoding, and
    `LimitExceeded` above the limits.
    """
    if len(document) > limits.bytes:
        raise LimitExceeded("document bytes", len(document), limits.bytes)
    _check_encoding(document)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False,
        huge_tree=False, recover=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(document, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        reason = _NO_FILE.sub("", str(error))
        raise ProfileError(f"not well-formed XML: {reason}") from None
    information = root.getroottree().docinfo
    if information.internalDTD is not None:
        raise ProfileError("a DOCTYPE is refused: send the document without one")
    if (information.encoding or "").upper() not in _ENCODINGS:
        raise ProfileError(f"encoding {information.encoding}: send the document in UTF-8")
    _check_shape(root, limits)
    return root


def elements_of(parent: etree._Element) -> Iterator[etree._Element]:
    """The child elements, whatever else stands between them."""
    for child in parent:
        if isinstance(child.tag, str):
            yield child


def name_of(element: etree._Element) -> str:
    """The element's name; raises `ProfileError` where a namespace is used."""
    tag = element.tag
    assert isinstance(tag, str)
    if tag.startswith("{") or element.nsmap:
        raise ProfileError(f"{tag}: namespaces are not part of the form")
    return tag


def attributes_of(element: etree._Element, allowed: frozenset[str]) -> dict[str, str]:
    """The element's attributes; raises `ProfileError` for one that is not `allowed`."""
    attributes = {str(name): str(value) for name, value in element.attrib.items()}
    for name in attributes:
        if name not in allowed:
            known = ", ".join(sorted(allowed)) or "none"
            raise ProfileError(f"<{name_of(element)}> has no attribute {name!r}; known: {known}")
    return attributes


def serialised(root: etree._Element) -> bytes:
    """The element in UTF-8, without a declaration."""
    written: bytes = etree.tostring(root, encoding="utf-8", xml_declaration=False)
    return written


def _check_encoding(document: bytes) -> None:
    """Refuse what is not UTF-8 before the parser guesses: UTF-16 has zeros where it has ASCII."""
    try:
        document.decode()
    except UnicodeDecodeError as error:
        raise ProfileError(f"byte {error.start} is not UTF-8") from None
    if b"\x00" in document:
        raise ProfileError("a zero byte: send the document in UTF-8")


def _check_shape(root: etree._Element, limits: XmlLimits) -> None:
    elements = attributes = depth = 0
    level = [root]
    while level:
        depth += 1
        if depth > limits.depth:
            raise LimitExceeded("document depth", depth, limits.depth)
        elements += len(level)
        if elements > limits.elements:
            raise LimitExceeded("document elements", elements, limits.elements)
        attributes += sum(len(element.attrib) for element in level)
        if attributes > limits.attributes:
            raise LimitExceeded("document attributes", attributes, limits.attributes)
        level = [child for element in level for child in elements_of(element)]
