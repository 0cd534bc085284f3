"""The payload of a message in XML: text, base64, or XML kept byte for byte.

Law of this file: what `payload_element` writes reads back as the same bytes.  XML inside a
payload is cut from the document's own bytes, not written anew: the scan below trusts nothing but
that the parser found the whole document well-formed (SPEC section 3).
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Final

from lxml import etree

from arms.errors import ProfileError
from arms.hardened_xml import attributes_of, elements_of, name_of, parse_document

NAMES: Final = ("payload", "data")
XML_TYPE: Final = "application/xml"
_ATTRIBUTES = frozenset({"type", "encoding"})
_ENCODINGS = frozenset({"text", "base64", "xml"})

_TOKEN = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    rb"|<(?P<end>/)?(?P<name>[^\s/>!?]+)(?:[^>\"']|\"[^\"]*\"|'[^']*')*?(?P<empty>/)?>",
    re.DOTALL,
)
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_payload(element: etree._Element, document: bytes) -> tuple[bytes, str]:
    """The data and content type of a `<payload>`; raises `ProfileError`."""
    name_of(element)
    attributes = attributes_of(element, _ATTRIBUTES)
    encoding = attributes.get("encoding")
    if encoding is not None and encoding not in _ENCODINGS:
        raise ProfileError(f"payload encoding {encoding!r}: known are text, base64 and xml")
    content_type = attributes.get("type", "")
    has_elements = any(True for _ in elements_of(element))
    if encoding == "xml" or (encoding is None and has_elements):
        return _inner_bytes(document), content_type or XML_TYPE
    if has_elements:
        raise ProfileError(f"payload encoding {encoding!r} with elements inside")
    text = "".join(str(part) for part in element.itertext())
    if encoding != "base64":
        return text.encode(), content_type
    try:
        return base64.b64decode("".join(text.split()), validate=True), content_type
    except (binascii.Error, ValueError) as error:
        raise ProfileError(f"payload is not base64: {error}") from None


def payload_bytes(data: bytes, content_type: str) -> bytes:
    """The `<payload>` element in UTF-8."""
    shell = etree.Element("payload")
    if content_type:
        try:
            shell.set("type", content_type)
        except ValueError:
            raise ProfileError("XML cannot hold this content type's characters") from None
    if is_xml_type(content_type) and _embeds(data):
        shell.set("encoding", "xml")
        opening: bytes = etree.tostring(shell, encoding="utf-8")
        return opening.removesuffix(b"/>") + b">" + data + b"</payload>"
    text = _text(data)
    if text is None:
        shell.set("encoding", "base64")
        shell.text = base64.b64encode(data).decode("ascii")
    else:
        shell.text = text or None
    written: bytes = etree.tostring(shell, encoding="utf-8")
    return written


def is_xml_type(content_type: str) -> bool:
    """Whether data of this type may stand in a document as it is."""
    bare = content_type.split(";", 1)[0].strip().lower()
    return bare in {XML_TYPE, "text/xml"} or bare.endswith("+xml")


def _text(data: bytes) -> str | None:
    """The data as text that XML can hold, or None."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if _NOT_XML.search(text) else text


def _embeds(data: bytes) -> bool:
    """Whether the data can stand inside an element and be cut out again unchanged."""
    if b"<!DOCTYPE" in data or data.lstrip().startswith(b"<?xml"):
        return False
    document = b"<message><payload>" + data + b"</payload></message>"
    try:
        root = parse_document(document)
        return len(root) == 1 and _inner_bytes(document) == data
    except ValueError:
        return False


def _inner_bytes(document: bytes) -> bytes:
    """What stands between the tags of the payload, the child of the outermost element."""
    depth = 0
    begin = -1
    for token in _TOKEN.finditer(document):
        name = token["name"]
        if name is None:
            continue
        if token["end"]:
            depth -= 1
            if depth == 1 and begin >= 0:
                return document[begin : token.start()]
            continue
        if depth == 1 and name.decode("utf-8", "replace") in NAMES:
            if token["empty"]:
                return b""
            begin = token.end()
        if not token["empty"]:
            depth += 1
    raise ProfileError("the payload's bytes cannot be told apart")
