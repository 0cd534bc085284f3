"""Messages in XML: the report's samples, every field there and back, payloads byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arms import (
    FoundMessage,
    Message,
    NotificationMessage,
    Profile,
    ProfileError,
    Result,
    parse_message,
    write_message,
    write_notification,
    write_result,
)
from arms.hardened_xml import parse_document

FIGURE_3_5 = b"""<message id="m35"><header>
 <credentials FireFighterId="f1"/>
 <profile maxNumAttributes="8">
  <temperature operator=">=" value="80"><unit value="Fa*"/><error operator="&lt;=" value="0.1"/>
  </temperature>
  <wind><degree value="*"/><direction value="*"/></wind>
  <alarm/>
 </profile>
 <ttl>600000</ttl></header>
 <action>retrieve(123.34.56.78:9999)</action></message>"""

FIGURE_3_6 = b"""<message id="m36"><header>
 <credentials sensorID="s1"/>
 <profile maxNumAttributes="8">
  <temperature value="110"><unit value="Fahrenheit"/><error operator="&lt;=" value="0.01"/>
  </temperature>
  <wind><speed value="20MPH"/><direction value="northwest"/></wind>
  <alarm/>
 </profile>
 <ttl>200000</ttl></header>
 <action>store</action>
 <payload><location>Rutgers.CoreBuilding.Room832</location><alarm><status>caution</status></alarm>\
</payload></message>"""

SPECIMEN = b"""<message id="m1">
 <header><credentials key="ed25519:abc" FireFighterId="x"/>
  <profile maxNumAttributes="9" connective="and">
   <temperature operator=">=" value="80"><unit value="Fa*"/><error max="0.1"/></temperature>
   <wind><degree value="*"/><direction value="*"/></wind><alarm/>
   <_ connective="or"><zone value="a"/><floor min="2" max="4" axis="descendant"/></_></profile>
  <context><situation>emergency</situation></context>
  <ttl>600000</ttl></header>
 <action>retrieve(123.34.56.78:9999)</action>
 <payload type="text/plain" encoding="text">hot &amp; dry</payload></message>"""


def test_the_reports_interest() -> None:
    message = parse_message(FIGURE_3_5)
    assert message == Message(
        id="m35",
        action="retrieve",
        profile=Profile.parse(
            "temperature>=80(unit=Fa* error<=0.1) wind(degree=* direction=*) alarm"
        ),
        ttl_s=600.0,
        reply_to="123.34.56.78:9999",
        claims=(("FireFighterId", "f1"),),
    )


def test_the_reports_data() -> None:
    message = parse_message(FIGURE_3_6)
    assert message == Message(
        id="m36",
        action="store",
        profile=Profile.parse(
            "temperature=110(unit=Fahrenheit error<=0.01) "
            "wind(speed=20MPH direction=northwest) alarm"
        ),
        data=b"<location>Rutgers.CoreBuilding.Room832</location>"
        b"<alarm><status>caution</status></alarm>",
        content_type="application/xml",
        ttl_s=200.0,
        claims=(("sensorID", "s1"),),
    )


def test_the_samples_match_once_degree_is_read_as_speed() -> None:
    data = parse_message(FIGURE_3_6).profile
    assert not parse_message(FIGURE_3_5).profile.matches(data)
    assert parse_message(FIGURE_3_5.replace(b"degree", b"speed")).profile.matches(data)


@pytest.mark.parametrize(
    ("slip", "repaired"),
    [
        (b'error operator="<="', b'error operator="&lt;="'),
        (b'operator=">=", value="80"', b'operator=">=" value="80"'),
        (b"<wind><degree", b"</temperature><wind><degree"),
    ],
)
def test_the_slips_of_the_figures_are_refused(slip: bytes, repaired: bytes) -> None:
    broken = FIGURE_3_5.replace(repaired, slip) if repaired in FIGURE_3_5 else FIGURE_3_5.replace(
        b"</temperature>", b""
    )  # fmt: skip
    assert broken != FIGURE_3_5
    with pytest.raises(ProfileError, match="not well-formed"):
        parse_message(broken)


def test_every_field() -> None:
    message = parse_message(SPECIMEN)
    assert message == Message(
        id="m1",
        action="retrieve",
        profile=Profile.parse(
            "temperature>=80(unit=Fa* error=..0.1) wind(degree=* direction=*) alarm "
            "(zone=a | //floor=2..4)"
        ),
        data=b"hot & dry",
        content_type="text/plain",
        ttl_s=600.0,
        owner="ed25519:abc",
        context=(("situation", "emergency"),),
        reply_to="123.34.56.78:9999",
        claims=(("FireFighterId", "x"),),
    )
    assert parse_message(write_message(message)) == message


PROFILE = Profile.parse("type=lamp t=5")
ODD_BYTES = (
    b"", b"plain", b"\xff\xfe", b"\x00", b"a\r\nb\r", "\u00e9\u4e2d\U0001f525".encode(), b"]]>",
    b"<a/>", b"<a", b"</payload>", b"</payload><payload>", b"<!-- x -->", b"<a>&amp;</a>", b"&lt;",
    b"<?xml version='1.0'?><a/>", b"<a b='>'>'\"</a>", b"<![CDATA[</payload>]]><a/>",
    b"<a xmlns='u'/>",
    b"<x:a/>", b"<!DOCTYPE a><a/>", b"<data><payload/></data>", b" <a/>\r\n", "\ufffe".encode(),
)  # fmt: skip
payloads = st.one_of(
    st.sampled_from(ODD_BYTES), st.binary(max_size=40), st.text(max_size=20).map(str.encode),
    st.lists(st.sampled_from(ODD_BYTES), max_size=4).map(b"".join),
)  # fmt: skip
types = st.sampled_from(("", "text/plain", "application/xml", "image/svg+xml", "text/xml; x=1"))


@given(payloads, types)
def test_payloads_come_back_byte_for_byte(data: bytes, content_type: str) -> None:
    message = Message("m", "store", PROFILE, data, content_type)
    assert parse_message(write_message(message)) == message


@given(st.lists(st.tuples(payloads, types), max_size=4))
def test_results_keep_their_matches_apart(contents: list[tuple[bytes, str]]) -> None:
    found = tuple(
        FoundMessage(f"d{i}", Profile.parse("payload data=*"), data, content_type, "me", 1.9999)
        for i, (data, content_type) in enumerate(contents)
    )
    document = write_result(Result("m1", "retrieve", True, len(found), 3, (), found))
    root = parse_document(document)
    assert [match.get("id") for match in root] == [match.id for match in found]
    for match in root:
        assert match.get("ttl") == "1999"
        assert [child.tag for child in match] == ["profile", "payload"]


def test_a_result() -> None:
    found = FoundMessage("d7", PROFILE, b"21", "", "ed25519:k", 199.5129, (("room", "832"),))
    result = Result("m1", "retrieve", False, 1, 3, ((0, 7), (9, 1 << 150)), (found,))
    assert write_result(result).decode() == (
        '<result id="m1" action="retrieve" complete="false" matches="1" peers="3">'
        '<missing first="0" last="7"/>'
        f'<missing first="9" last="{1 << 150}"/>'
        '<match id="d7" owner="ed25519:k" ttl="199512">'
        '<profile><type value="lamp"/><t value="5"/></profile>'
        "<context><room>832</room></context><payload>21</payload></match></result>"
    )


def test_a_notification() -> None:
    found = FoundMessage("d7", PROFILE)
    notification = NotificationMessage("i1:d7", "i1", "appeared", found)
    assert write_notification(notification).decode() == (
        '<notification id="i1:d7" interest="i1" kind="appeared"><match id="d7" ttl="0">'
        '<profile><type value="lamp"/><t value="5"/></profile><payload/></match></notification>'
    )


HEAD = "<header><profile><a/></profile></header><action>store</action>"


@pytest.mark.parametrize(
    ("payload", "data", "content_type"),
    [
        ("<payload>a</payload>", b"a", ""),
        ("<data>a</data>", b"a", ""),
        ("<payload/>", b"", ""),
        ("", b"", ""),
        ("<payload><a><payload>x</payload></a ></payload >", b"<a><payload>x</payload></a >",
         "application/xml"),
        ("<payload><!-- k --><a b='/>'/></payload>", b"<!-- k --><a b='/>'/>", "application/xml"),
        ('<payload encoding="xml">only text</payload>', b"only text", "application/xml"),
        ('<payload encoding="base64"> aGVs bG8= </payload>', b"hello", ""),
        ("<payload><![CDATA[<a>]]></payload>", b"<a>", ""),
        ('<payload type="image/svg+xml"><svg xmlns="urn:s"/></payload>', b'<svg xmlns="urn:s"/>',
         "image/svg+xml"),
    ],
)  # fmt: skip
def test_payload_forms(payload: str, data: bytes, content_type: str) -> None:
    for document in (
        f"<message>{HEAD}{payload}</message>",
        f"<!-- <payload> -->\n<message id='>'>{payload}<?payload <payload>?>{HEAD}</message>",
    ):
        message = parse_message(document.encode())
        assert (message.data, message.content_type) == (data, content_type)


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ("<result/>", "<message> is expected"),
        ("<message/>", "without <header>"),
        ("<message><header/><action>store</action></message>", "without <profile>"),
        ("<message><header><profile><a/></profile></header></message>", "without <action>"),
        (f"<message>{HEAD}<payload/><data/></message>", "write one"),
        (f"<message>{HEAD}<payload/><payload/></message>", "twice"),
        (f"<message>{HEAD}<paylod/></message>", "known are header"),
        (f"<message name='x'>{HEAD}</message>", "no attribute 'name'"),
        (f"<message>{HEAD}<payload encoding='zip'/></message>", "known are text"),
        (f"<message>{HEAD}<payload encoding='base64'>?</payload></message>", "not base64"),
        (f"<message>{HEAD}<payload encoding='text'><a/></payload></message>", "elements inside"),
        (f"<message xmlns='urn:x'>{HEAD}</message>", "namespaces"),
        ("<message><header><profile><a/></profile><ttl>-5</ttl></header>"
         "<action>store</action></message>", "not below 0"),
        ("<message><header><profile><a/></profile><ttl>1.5</ttl></header>"
         "<action>store</action></message>", "whole milliseconds"),
        ("<message><header><profile><a/></profile><ttl>1e9</ttl></header>"
         "<action>store</action></message>", "whole milliseconds"),
        ("<message><header><profile><a/></profile></header><action>a b</action></message>",
         "host:port"),
        ("<message><header><profile><a/></profile></header>"
         "<action>retrieve(1.2.3.4: 99)</action></message>", "host:port"),
        ("<message><header><profile><a/></profile></header><action><b/></action></message>",
         "holds text"),
    ],
)  # fmt: skip
def test_malformed_messages(document: str, says: str) -> None:
    with pytest.raises(ProfileError, match=says):
        parse_message(document.encode())


def test_order_and_text_between_elements_do_not_matter() -> None:
    document = (
        "<message>words<payload>d</payload><action> store </action>more"
        "<header><ttl> 5 </ttl><profile>x<a/>y</profile></header></message>"
    )
    assert parse_message(document.encode()) == Message(
        "", "store", Profile.parse("a"), b"d", ttl_s=0.005
    )


def test_what_xml_cannot_hold_is_refused() -> None:
    with pytest.raises(ProfileError):
        write_message(Message("\x00", "store", PROFILE))
    with pytest.raises(ProfileError):
        write_message(Message("", "store", PROFILE, context=(("a b", "c"),)))
    with pytest.raises(ProfileError):
        write_message(Message("", "store", PROFILE, context=(("a", "\x01"),)))
    with pytest.raises(ProfileError):
        write_message(Message("", "store", PROFILE, content_type="\x01"))
    with pytest.raises(ProfileError):
        Profile.parse('a="\x01"').to_xml()
    with pytest.raises(ProfileError):
        Profile.parse("\u00b5=1").to_xml()
