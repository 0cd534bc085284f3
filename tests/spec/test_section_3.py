"""Sentences on XML and JSON that stand nowhere else."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import aiohttp
import pytest

import meteor
from arms import parse_message
from meteor.rest.json_form import match_object, receipt_object
from tests.meteor.building import SPACE

MESSAGE = """<message id="m1">
 <header><credentials key="ed25519:k" FireFighterId="x"/>
  <profile maxNumAttributes="8" connective="and">
   <temperature operator=">=" value="80"><unit value="Fa*"/><error max="0.1"/></temperature>
   <wind><degree value="*"/><direction value="*"/></wind><alarm/>
   <_ connective="or"><zone value="a"/><floor min="2" max="4" axis="descendant"/></_></profile>
  <context><situation>emergency</situation></context>
  <ttl>600000</ttl></header>
 <action>retrieve(123.34.56.78:9999)</action>
 <payload type="text/plain" encoding="text">hot</payload></message>"""


def test_the_message_of_the_specification_is_read_as_it_stands() -> None:
    message = parse_message(MESSAGE.encode())
    assert (message.id, message.owner, message.ttl_s) == ("m1", "ed25519:k", 600.0)
    assert message.claims == (("FireFighterId", "x"),)
    assert (message.action, message.reply_to) == ("retrieve", "123.34.56.78:9999")
    assert message.context == (("situation", "emergency"),)
    assert (message.data, message.content_type) == (b"hot", "text/plain")
    assert message.profile == meteor.Profile.parse(
        "temperature>=80(unit=Fa* error<=0.1) wind(degree=* direction=*) alarm "
        "(zone=a | //floor=2..4)"
    )


@pytest.mark.sockets
async def test_what_a_message_leaves_out_the_peer_gives() -> None:
    """An id, and the lifetime of the action; the caller may repeat what it left out."""
    document = (
        "<message><header><profile><type value='lamp'/></profile></header>"
        "<action>store</action><payload>lit</payload></message>"
    )
    ids = set()
    async with meteor.Peer(space=SPACE) as peer, aiohttp.ClientSession() as session:
        for _ in range(2):
            address = f"http://{peer.address}/messages"
            async with session.post(address, data=document.encode()) as reply:
                result = ElementTree.fromstring(await reply.text())
            ids.add(str(result.get("id")).partition(".")[0])
        found = await peer.retrieve("type=lamp")
    assert len(ids) == 2
    assert all(len(stem) == 26 for stem in ids), "128 random bits"
    assert {match.id.partition(".")[0] for match in found} == ids
    assert all(3590 < match.ttl <= 3600 for match in found)


async def test_the_fields_of_json_are_the_same_everywhere() -> None:
    async with meteor.LocalOverlay(peers=1, space=SPACE) as overlay:
        client = await overlay.connect()
        interest = await client.notify_data("type=lamp")
        receipt = await client.store("type=lamp", "lit", ttl=60, context={"zone": "b"})
        await client.store("type=lamp", b"\xff")
        matches = await client.retrieve("type=lamp")
        notification = await interest.recv(10)
    said = json.loads(json.dumps(receipt_object(receipt, "store")))
    assert {"id", "action", "complete", "missing", "ttl"} <= said.keys()
    assert (said["action"], said["complete"], said["ttl"]) == ("store", True, 60.0)
    objects = [match_object(match) for match in matches]
    (text,) = (one for one in objects if "data" in one)
    (binary,) = (one for one in objects if "data" not in one)
    common = {"id", "profile", "ttl", "owner", "context"}
    assert text.keys() == common | {"data", "content_type"}
    assert binary.keys() == common | {"data_base64"}
    assert 50 < text["ttl"] <= 60, "seconds"
    assert (text["data"], text["context"], binary["data_base64"]) == ("lit", {"zone": "b"}, "/w==")
    assert match_object(notification).keys() >= common | {"kind", "interest"}
