"""Messages, results and notifications in XML, as the report's figures 3.5 and 3.6 write them.

Law of this file: hostile input in, typed errors out; a closed set of elements, each at most once
where one is meant, in any order (SPEC section 3).  The parser is `arms.hardened_xml`, always.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from lxml import etree

from arms.actions import parse_call
from arms.declarations import Space
from arms.errors import ProfileError
from arms.hardened_xml import (
    XML_LIMITS,
    XmlLimits,
    attributes_of,
    elements_of,
    name_of,
    parse_document,
    serialised,
)
from arms.message import ActionOutput, FoundMessage, Message, NotificationMessage, Pairs, Result
from arms.payload_xml import NAMES, payload_bytes, read_payload
from arms.profile import Profile
from arms.profile_xml import profile_element, read_profile

NOTHING: Final[frozenset[str]] = frozenset()
_TTL = re.compile(r"[0-9]{1,15}", re.ASCII)
_AUDIENCE_MAX: Final = 64
_PAYLOAD_PLACE: Final = b"<?payload here?>"


def parse_message(
    document: bytes, limits: XmlLimits = XML_LIMITS, space: Space | None = None
) -> Message:
    """The message of a document, its profile typed when a space is given.

    Raises `ProfileError`, `LimitExceeded`, and against the space `TypeMismatch`.
    """
    root = parse_document(document, limits)
    if name_of(root) != "message":
        raise ProfileError(f"<{name_of(root)}> where <message> is expected")
    identity = attributes_of(root, frozenset({"id"})).get("id", "")
    parts = _parts(root, ("header", "action", *NAMES))
    header = _required(parts, "header", "message")
    fields = _parts(header, ("credentials", "profile", "context", "visible", "ttl"))
    attributes_of(header, NOTHING)
    action, reply_to = parse_call(_text(_required(parts, "action", "message")))
    payloads = [parts[name] for name in NAMES if name in parts]
    if len(payloads) > 1:
        raise ProfileError("<payload> and <data> in one message: write one")
    data, content_type = read_payload(payloads[0], document) if payloads else (b"", "")
    owner, claims = _credentials(fields.get("credentials"))
    profile = read_profile(_required(fields, "profile", "header"))
    return Message(
        id=identity,
        action=action,
        profile=Profile.from_element(profile, space),
        data=data,
        content_type=content_type,
        ttl_s=_ttl(fields.get("ttl")),
        owner=owner,
        context=_context(fields.get("context")),
        reply_to=reply_to,
        claims=claims,
        visible_to=_audience(fields.get("visible")),
    )


def write_message(message: Message) -> bytes:
    """The document of a message; raises `ProfileError` for characters that XML cannot hold."""
    root = etree.Element("message")
    header = etree.SubElement(root, "header")
    if message.id:
        _set(root, "id", message.id)
    if message.owner or message.claims:
        credentials = etree.SubElement(header, "credentials")
        if message.owner:
            _set(credentials, "key", message.owner)
        for name, value in message.claims:
            _set(credentials, name, value)
    header.append(profile_element(message.profile.element))
    _write_context(header, message.context)
    if message.visible_to is not None:
        visible = etree.SubElement(header, "visible")
        for name in message.visible_to:
            _set(etree.SubElement(visible, "to"), "name", name)
    if message.ttl_s is not None:
        etree.SubElement(header, "ttl").text = str(_milliseconds(message.ttl_s))
    call = f"{message.action}({message.reply_to})" if message.reply_to else message.action
    _set_text(etree.SubElement(root, "action"), call)
    payloads = []
    if message.data or message.content_type:
        root.append(etree.ProcessingInstruction("payload", "here"))
        payloads.append(payload_bytes(message.data, message.content_type))
    return _with_payloads(root, payloads)


def write_result(result: Result) -> bytes:
    """The document of a result; raises as `write_message`."""
    root = etree.Element("result")
    _set(root, "id", result.id)
    _set(root, "action", result.action)
    root.set("complete", "true" if result.complete else "false")
    root.set("matches", str(result.matches))
    root.set("peers", str(result.peers))
    for first, last in result.missing:
        etree.SubElement(root, "missing", {"first": str(first), "last": str(last)})
    for trouble in result.troubles:
        _set_text(etree.SubElement(root, "trouble"), trouble)
    payloads = [_write_match(root, found) for found in result.found]
    payloads += [_write_output(root, output) for output in result.outputs]
    return _with_payloads(root, payloads)


def write_notification(notification: NotificationMessage) -> bytes:
    """The document of a notification; raises as `write_message`."""
    root = etree.Element("notification")
    _set(root, "id", notification.id)
    _set(root, "interest", notification.interest)
    root.set("kind", notification.kind)
    return _with_payloads(root, [_write_match(root, notification.found)])


# -- reading


def _parts(parent: etree._Element, known: tuple[str, ...]) -> dict[str, etree._Element]:
    """The child elements by name, each at most once."""
    parts: dict[str, etree._Element] = {}
    for child in elements_of(parent):
        name = name_of(child)
        if name not in known:
            raise ProfileError(f"<{name}> in <{name_of(parent)}>: known are {', '.join(known)}")
        if name in parts:
            raise ProfileError(f"<{name}> twice in <{name_of(parent)}>")
        parts[name] = child
    return parts


def _required(parts: dict[str, etree._Element], name: str, parent: str) -> etree._Element:
    if name not in parts:
        raise ProfileError(f"<{parent}> without <{name}>")
    return parts[name]


def _text(element: etree._Element) -> str:
    """The text of an element that has nothing else."""
    attributes_of(element, NOTHING)
    if any(True for _ in elements_of(element)):
        raise ProfileError(f"<{name_of(element)}> holds text, not elements")
    return "".join(str(part) for part in element.itertext())


def _credentials(element: etree._Element | None) -> tuple[str, Pairs]:
    if element is None:
        return "", ()
    name_of(element)
    pairs = [(str(name), str(value)) for name, value in element.attrib.items()]
    owner = next((value for name, value in pairs if name == "key"), "")
    return owner, tuple((name, value) for name, value in pairs if name != "key")


def _context(element: etree._Element | None) -> Pairs:
    if element is None:
        return ()
    attributes_of(element, NOTHING)
    return tuple((name_of(child), _text(child)) for child in elements_of(element))


def _audience(element: etree._Element | None) -> tuple[str, ...] | None:
    """The names of `<visible><to name="group:staff"/></visible>`; without any: nobody else."""
    if element is None:
        return None
    attributes_of(element, NOTHING)
    names: list[str] = []
    for child in elements_of(element):
        if name_of(child) != "to":
            raise ProfileError(f"<{name_of(child)}> in <visible>: known is to")
        name = attributes_of(child, frozenset({"name"})).get("name", "")
        if not name or len(names) >= _AUDIENCE_MAX:
            raise ProfileError(f"<to> needs a name; at most {_AUDIENCE_MAX} stand in <visible>")
        names.append(name)
    return tuple(names)


def _ttl(element: etree._Element | None) -> float | None:
    if element is None:
        return None
    text = _text(element).strip()
    if not _TTL.fullmatch(text):
        raise ProfileError(f"ttl {text[:40]!r}: write whole milliseconds, not below 0")
    return int(text) / 1000


# -- writing


def _write_match(parent: etree._Element, found: FoundMessage) -> bytes:
    """Write a match with a place for its payload; returns the payload."""
    match = etree.SubElement(parent, "match")
    _set(match, "id", found.id)
    if found.owner:
        _set(match, "owner", found.owner)
    match.set("ttl", str(_milliseconds(found.ttl_s)))
    match.append(profile_element(found.profile.element))
    _write_context(match, found.context)
    match.append(etree.ProcessingInstruction("payload", "here"))
    return payload_bytes(found.data, found.content_type)


def _write_output(parent: etree._Element, given: ActionOutput) -> bytes:
    """Write one run's result, as a match is written."""
    output = etree.SubElement(parent, "output")
    _set(output, "peer", given.peer)
    output.set("matches", str(given.matches))
    for first, last in given.intervals:
        etree.SubElement(output, "part", {"first": str(first), "last": str(last)})
    output.append(etree.ProcessingInstruction("payload", "here"))
    return payload_bytes(given.data, "")


def _write_context(parent: etree._Element, context: Pairs) -> None:
    if not context:
        return
    element = etree.SubElement(parent, "context")
    for name, value in context:
        try:
            child = etree.SubElement(element, name)
        except ValueError:
            raise ProfileError(f"{name!r} cannot name an element of the context") from None
        _set_text(child, value)


def _with_payloads(root: etree._Element, payloads: Iterable[bytes]) -> bytes:
    """The document with each payload in its place: an instruction, which no name or text can
    give."""
    head, *rest = serialised(root).split(_PAYLOAD_PLACE)
    parts = [head]
    for payload, behind in zip(payloads, rest, strict=True):
        parts += (payload, behind)
    return b"".join(parts)


def _set(element: etree._Element, name: str, value: str) -> None:
    try:
        element.set(name, value)
    except ValueError:
        raise ProfileError(f"{name}: XML cannot hold these characters") from None


def _set_text(element: etree._Element, text: str) -> None:
    try:
        element.text = text
    except ValueError:
        raise ProfileError("XML cannot hold these characters") from None


def _milliseconds(seconds: float) -> int:
    """Rounded down: a life is never shown longer than it is."""
    return int(seconds * 1000)
