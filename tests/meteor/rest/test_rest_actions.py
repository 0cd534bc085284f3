"""An application's own actions over HTTP: posted as a message, every run's result in the answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import pytest

import meteor
from meteor.rest import outputs
from meteor.rest.schemas import SCHEMAS
from tests.meteor.rest.http_client import Http

pytestmark = pytest.mark.sockets

DOCUMENT = (
    '<message id="m1"><header><profile><type value="temp*"/></profile></header>'
    "<action>{action}</action><payload>{data}</payload></message>"
)


def total(
    _: meteor.ActionContext, message: meteor.Match, matches: Sequence[meteor.Match]
) -> bytes | None:
    """What one peer has, behind what was posted."""
    return f"{message.text}{len(matches)}".encode() if matches else None


async def perform(http: Http, action: str, **more: Any) -> tuple[int, Any, Any]:
    form = {"action": action, "profile": "type=temp*", "data": "n=", **more}
    return await http.ask(
        "POST", "/messages", data=json.dumps(form), headers={"Content-Type": "application/json"}
    )


async def test_every_runs_result_is_in_one_answer(http: Http) -> None:
    for peer in http.peers:
        peer.action("total")(total)
    for number in range(12):
        await http.store(-40 + 13 * number)
    status, headers, form = await perform(http, "total")
    assert (status, headers["Meteor-Complete"]) == (200, "true")
    assert form.keys() == set(SCHEMAS["Results"]["required"])
    assert (form["action"], form["matches"]) == ("total", 12)
    assert form["peers"] in {1, 2}, "whose arcs meet it: their ports decide"
    assert (form["missing"], form["troubles"]) == ([], [])
    assert sum(int(one["data"].removeprefix("n=")) for one in form["results"]) == 12
    assert sum(one["matches"] for one in form["results"]) == 12
    assert {one["peer"] for one in form["results"]} <= {peer.address for peer in http.peers}
    assert all(one["intervals"] for one in form["results"])


async def test_the_same_in_xml(http: Http) -> None:
    http.peers[0].action("total")(total)
    http.peers[1].action("total")(total)
    await http.store(21.5)
    document = DOCUMENT.format(action="total", data="n=")
    status, headers, raw = await http.ask("POST", "/messages", data=document.encode())
    assert (status, headers["Content-Type"]) == (200, "application/xml; charset=utf-8")
    result = ElementTree.fromstring(raw)
    assert int(result.attrib.pop("peers")) in {1, 2}, "whose arcs meet it: their ports decide"
    assert result.attrib == {"id": "m1", "action": "total", "complete": "true", "matches": "1"}
    (output,) = result.findall("output")
    assert output.get("matches") == "1"
    assert output.get("peer") in {peer.address for peer in http.peers}
    assert output.findtext("payload") == "n=1"
    assert output.find("part") is not None


async def test_what_did_not_run_is_missing_and_says_why(
    http: Http, caplog: pytest.LogCaptureFixture
) -> None:
    """Also where neither XML nor a log in UTF-8 could hold what the application raised."""

    def broken(*_: Any) -> bytes:
        raise ValueError("odd\x00\ud800")

    for number in range(12):
        await http.store(-40 + 13 * number)
    for peer in http.peers:
        peer.action("total")(total)
    _, _, form = await perform(http, "total")
    having = form["results"][0]["peer"]  # their ports decide which of them, or both
    for peer in http.peers:
        peer.action("half")(broken if peer.address == having else total)
    status, headers, form = await perform(http, "half")
    assert (status, headers["Meteor-Complete"]) == (200, "false")
    assert form["complete"] is False
    assert form["missing"]
    (trouble,) = form["troubles"]
    assert "it raised ValueError: odd" in trouble
    assert sum(one["matches"] for one in form["results"]) < 12
    assert b"in broken" in caplog.text.encode("utf-8")
    document = DOCUMENT.format(action="half", data="n=").encode()
    status, headers, raw = await http.ask("POST", "/messages", data=document)
    result = ElementTree.fromstring(raw)
    assert (status, result.get("complete")) == (200, "false")
    assert "it raised ValueError: odd" in str(result.findtext("trouble"))


async def test_an_action_that_nobody_has_is_a_problem(http: Http) -> None:
    http.peers[0].action("total")(total)
    http.peers[1].action("total")(total)
    status, _, form = await perform(http, "totel")
    assert (status, form["type"]) == (400, "urn:meteor:error:UnknownAction")
    assert "total" in form["detail"]
    status, _, form = await perform(http, "notify_date")
    assert (status, form["type"]) == (400, "urn:meteor:error:UnknownAction")
    status, _, form = await perform(http, "total", ttl=60)
    assert (status, "not kept" in form["detail"]) == (400, True)
    status, _, form = await perform(http, "total", profile="type=*")
    assert (status, form["rule"]) == (403, "everywhere")


async def test_more_than_a_document_holds_is_refused_by_name(
    http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outputs, "PAGE_BYTES_MAX", 1)
    for peer in http.peers:
        peer.action("total")(total)
    await http.store(21.5)
    status, _, form = await perform(http, "total")
    assert (status, form["name"], form["limit"]) == (413, "results bytes", 1)
