"""What was posted by JSON or a client, and XML cannot hold: whoever asks in XML is told what to do,
and a reply address gets it all the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

import meteor
from chord import Contact
from meteor.rest import replies
from meteor.wire.document import encode_document, pack_profile
from meteor.wire.messages import Document, Found, Notice
from tests.meteor.rest.http_client import Http

BEYOND: list[dict[str, Any]] = [
    {"context": {"request id": "7"}},
    {"context": {"note": "bell \u0007"}},
    {"content_type": "text/\u0001"},
    {"profile": 'type=beyond note="bell \u0007"'},
]


@pytest.mark.sockets
@pytest.mark.parametrize("beyond", BEYOND)
async def test_an_answer_that_xml_cannot_hold_is_to_be_asked_for_in_json(
    http: Http, beyond: dict[str, Any]
) -> None:
    """It is not the fault of the selector, and the answer is to be had."""
    form = {"profile": "type=beyond"} | beyond
    kind = {"Content-Type": "application/json"}
    posted, _, _ = await http.ask("POST", "/messages", headers=kind, data=json.dumps(form))
    assert posted == 200
    as_json = {"Accept": "application/json, application/xml;q=0.5"}
    status, _, found = await http.ask("GET", "/profiles", headers=as_json, select="type=beyond")
    assert (status, found["total"]) == (200, 1)
    in_xml = {"Accept": "application/xml"}
    status, _, said = await http.ask("GET", "/profiles", headers=in_xml, select="type=beyond")
    assert status == 406
    assert b"NotAcceptable" in said
    assert b"Accept: application/json" in said


def test_a_notification_that_xml_cannot_hold_is_sent_in_json() -> None:
    profile = pack_profile(meteor.Profile.parse("type=beyond"))

    def told(context: tuple[tuple[str, str], ...]) -> tuple[bytes, str]:
        blob = encode_document(Document("store", profile, b"data", "", context))
        found = Found("d1.r", 1, "", 1000, blob)
        notice = Notice("i1:d1:1", "i1", "match", found, Contact.at("127.0.0.1:1"))
        return replies.notification_letter(meteor.Notification(notice))

    document, kind = told((("request", "7"),))
    assert (kind, document.startswith(b"<notification ")) == ("application/xml", True)
    document, kind = told((("request id", "7"),))
    assert kind == "application/json"
    form = json.loads(document)
    assert (form["notification"], form["context"]) == ("i1:d1:1", {"request id": "7"})
    assert form["kind"] == "match"
