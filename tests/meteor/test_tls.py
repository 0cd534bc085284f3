"""Mutual TLS: who joins, who connects, what is said to whom it is refused."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import meteor
from chord import CallError, Contact, GetNeighbours, RemoteFault
from meteor import TLS
from meteor.links.address import is_loopback
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.websocket_transport import WebSocketTransport
from meteor.security.tls import names_host, refusal_of_peer
from tests.certificates import directory, tls
from tests.meteor.building import SPACE

HOST = "127.0.0.1"
pytestmark = pytest.mark.sockets


@pytest.fixture
async def peer() -> AsyncIterator[meteor.Peer]:
    async with meteor.Peer(space=SPACE, tls=tls(HOST)) as made:
        yield made


async def test_peers_of_one_ca_are_a_ring_and_a_client_needs_the_ca_alone(
    peer: meteor.Peer,
) -> None:
    async with (
        meteor.Peer(join=[peer.address], tls=tls(HOST)) as other,
        meteor.connect(other.address, tls=tls()) as client,
    ):
        interest = await client.notify_data("temperature>=80")
        await peer.store("type=alarm temperature=90", b"hot")
        assert (await interest.recv(timeout=5)).data == b"hot"
        picture = await client.ring()
        assert {one.contact.id for one in picture.peers} == {peer.id, other.id}


@pytest.mark.parametrize(
    ("joiner", "why"),
    [
        (tls(HOST, ca="theirs", trusts="theirs"), "not accepted: .*self.signed"),
        (tls(HOST, ca="theirs"), "require a certificate of its CA"),
        (tls("127.0.0.9"), "names 127.0.0.9, not 127.0.0.1: make one with `meteor certs"),
        (tls(HOST, expired=True), "require a certificate of its CA"),
        (None, "TLS only"),
    ],
    ids=["another CA", "signed by another CA", "of another host", "expired", "in the clear"],
)
async def test_a_peer_without_a_fitting_certificate_cannot_join(
    peer: meteor.Peer, joiner: TLS | None, why: str
) -> None:
    with pytest.raises(meteor.JoinFailed, match=why):
        await meteor.Peer(space=SPACE, join=[peer.address], tls=joiner).start()
    assert [one.contact.id for one in (await peer.ring()).peers] == [peer.id]


async def test_the_certificate_of_a_client_makes_no_peer(peer: meteor.Peer) -> None:
    """It is of the CA, but names no host that it could be reached at."""
    transport = WebSocketTransport(tls=tls(client="ann"))
    runtime = AsyncioRuntime(Contact(5, "127.0.0.1:1"), transport)
    with pytest.raises(CallError, match=r"names no host, not 127\.0\.0\.1"):
        await runtime.call(peer.contact, GetNeighbours(), 5)
    await runtime.aclose()
    counted = peer.snapshot()
    assert counted is not None
    assert counted.traffic is not None
    assert counted.traffic.strangers >= 1


@pytest.mark.parametrize("shown", [tls(), tls(client="ann")], ids=["no certificate", "a client's"])
async def test_what_is_said_between_peers_no_client_can_say(peer: meteor.Peer, shown: TLS) -> None:
    runtime = AsyncioRuntime(Contact(5, ""), WebSocketTransport(tls=shown))
    with pytest.raises(RemoteFault, match="GetNeighbours is between peers") as refused:
        await runtime.call(peer.contact, GetNeighbours(), 5)
    assert refused.value.kind == "Refused"
    await runtime.aclose()


async def test_clients_may_be_required_to_show_a_certificate() -> None:
    strict = tls(HOST, client_certificates=True)
    async with meteor.Peer(space=SPACE, tls=strict) as peer:
        with pytest.raises(meteor.NotConnected, match="require a certificate of its CA"):
            await meteor.connect(peer.address, tls=tls())
        async with meteor.connect(peer.address, tls=tls(client="ann")) as client:
            await client.store("type=probe temperature=1")
        assert await status(peer, tls()) is None
        assert await status(peer, tls(client="ann")) == 200


async def test_rest_is_https_on_the_same_port(peer: meteor.Peer) -> None:
    assert await status(peer, tls()) == 200
    assert await status(peer, tls(trusts="theirs")) is None


async def status(peer: meteor.Peer, shown: TLS) -> int | None:
    """What a GET is answered with; None where there is no connection."""
    async with aiohttp.ClientSession() as session:
        try:
            url = f"https://{peer.address}/space"
            async with session.get(url, ssl=shown.client_context()) as answer:
                return answer.status
        except aiohttp.ClientError:
            return None


@pytest.mark.parametrize(
    ("shown", "address", "why"),
    [
        (tls(trusts="theirs"), "127.0.0.1", "its certificate is not accepted"),
        (tls(), "localhost", "Hostname mismatch"),
        (None, "127.0.0.1", "may speak TLS only"),
    ],
    ids=["another CA", "another name", "in the clear"],
)
async def test_a_client_is_told_why_it_is_not_connected(
    peer: meteor.Peer, shown: TLS | None, address: str, why: str
) -> None:
    at = f"{address}:{peer.address.rpartition(':')[2]}"
    with pytest.raises(meteor.NotConnected, match=why):
        await meteor.connect(at, tls=shown)


async def test_a_tls_client_of_a_peer_in_the_clear_is_told_so() -> None:
    async with meteor.Peer(space=SPACE) as peer:
        with pytest.raises(meteor.NotConnected, match="does not speak TLS"):
            await meteor.connect(peer.address, tls=tls())


@pytest.mark.parametrize(
    "listen", ["10.0.0.5:7400", "peer-1.lan:7400", "[2001:db8::1]:0", "192.168.1.2:0"]
)
async def test_a_peer_that_others_reach_does_not_start_in_the_clear(listen: str) -> None:
    with pytest.raises(meteor.Refused, match="without TLS") as refused:
        meteor.Peer(space=SPACE, listen=listen)
    assert refused.value.rule == "insecure"
    meteor.Peer(space=SPACE, listen=listen, insecure=True)
    meteor.Peer(space=SPACE, listen=listen, tls=tls("10.0.0.5"))


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("127.0.0.1:1", True), ("127.9.9.9:1", True), ("[::1]:1", True), ("LocalHost:1", True),
        ("0.0.0.0:1", False), ("10.0.0.1:1", False), ("[::]:1", False), ("localhost.evil:1", False),
        ("[fe80::1]:1", False), ("127.0.0.1.evil:1", False),
    ],
)  # fmt: skip
def test_only_this_machine_reaches_a_loopback_address(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected


@pytest.mark.parametrize(
    ("names", "host", "expected"),
    [
        ([("DNS", "peer-1.lan")], "PEER-1.lan", True),
        ([("DNS", "peer-1.lan")], "peer-2.lan", False),
        ([("DNS", "*.lan.example")], "peer-1.lan.example", True),
        ([("DNS", "*.lan.example")], "a.peer-1.lan.example", False),
        ([("DNS", "*.lan.example")], ".lan.example", False),
        ([("DNS", "*.lan")], "peer.lan", False),  # a star over a whole top-level domain
        ([("DNS", "*")], "peer", False),
        ([("DNS", "127.0.0.1")], "127.0.0.1", False),  # an address is no name
        ([("IP Address", "127.0.0.1")], "127.0.0.1", True),
        ([("IP Address", "0:0:0:0:0:0:0:1\n")], "::1", True),
        ([("IP Address", "127.0.0.1")], "127.0.0.10", False),
        ([("URI", "peer"), ("email", "peer")], "peer", False),
        ([], "peer", False),
    ],
)
def test_a_certificate_names_a_host(
    names: list[tuple[str, str]], host: str, expected: bool
) -> None:
    assert names_host({"subjectAltName": tuple(names)}, host) is expected


def test_who_shows_nothing_is_no_peer() -> None:
    assert refusal_of_peer({}, HOST)
    assert refusal_of_peer(None, HOST)


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ({"ca": "no-such.pem"}, "No such file"),
        ({"ca": "empty.pem"}, "ca .* cannot be used"),
        ({"cert": "no-such.pem"}, "No such file"),
        ({"key": "ours-localhost-False-key.pem"}, "the key is not that of the certificate"),
        ({"key": "passphrase.pem"}, "passphrase"),
    ],
)
def test_files_that_cannot_be_used_are_named(files: dict[str, str], why: str) -> None:
    good = tls(HOST)
    tls("localhost")
    (directory() / "empty.pem").write_text("")
    (directory() / "passphrase.pem").write_bytes(encrypted_key())
    chosen: dict[str, Any] = {"ca": good.ca, "cert": good.cert, "key": good.key}
    chosen |= {name: directory() / file for name, file in files.items()}
    with pytest.raises(meteor.CertificateError, match=why) as refused:
        TLS(**chosen).server_context()
    assert next(iter(files.values())) in str(refused.value)


def encrypted_key() -> bytes:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )


def test_options_of_tls_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ValueError, match="cert without key"):
        TLS(ca="ca.pem", cert="a.pem")
    with pytest.raises(ValueError, match="a peer needs cert and key"):
        meteor.Peer(space=SPACE, tls=tls())


def test_old_versions_of_tls_are_not_spoken() -> None:
    shown = tls(HOST)
    assert shown.server_context().minimum_version is ssl.TLSVersion.TLSv1_2
    assert shown.client_context().minimum_version is ssl.TLSVersion.TLSv1_3
    assert shown.client_context().check_hostname


async def test_certificates_are_read_again_while_the_peer_runs(tmp_path: Path) -> None:
    """New links see the new one; a file that cannot be used changes nothing."""
    first = tls(HOST)
    files = {name: tmp_path / f"{name}.pem" for name in ("ca", "cert", "key")}

    def install(shown: TLS) -> None:
        for name, path in files.items():
            path.write_bytes(Path(str(getattr(shown, name))).read_bytes())

    install(first)
    async with meteor.Peer(space=SPACE, tls=TLS(**files)) as peer:
        install(tls(HOST, "localhost"))
        port = peer.address.rpartition(":")[2]
        with pytest.raises(meteor.NotConnected, match="Hostname mismatch"):
            await meteor.connect(f"localhost:{port}", tls=tls())
        peer.reload_certificates()
        async with meteor.connect(f"localhost:{port}", tls=tls()) as client:
            await client.store("type=probe")
        files["key"].write_text("no key")
        with pytest.raises(meteor.CertificateError):
            peer.reload_certificates()
        async with meteor.connect(f"localhost:{port}", tls=tls()) as client:
            await client.store("type=probe")
    async with meteor.Peer(space=SPACE) as plain:
        with pytest.raises(ValueError, match="no TLS"):
            plain.reload_certificates()


def test_a_certificate_that_cannot_be_read_is_not_in_force(tmp_path: Path) -> None:
    """OpenSSL takes a certificate in another envelope, which nobody can ask when it ends."""
    shown, other = tls(HOST), tls(HOST, "localhost")
    assert shown.key is not None
    assert other.cert is not None
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    cert.write_bytes(Path(str(shown.cert)).read_bytes())
    key.write_bytes(Path(shown.key).read_bytes())
    transport = WebSocketTransport("127.0.0.1:0", tls=TLS(ca=shown.ca, cert=cert, key=key))
    loaded: list[ssl.SSLContext] = []
    with pytest.MonkeyPatch.context() as patched:
        load = TLS.load_into
        patched.setattr(
            TLS, "load_into", lambda files, context: loaded.append(context) or load(files, context)
        )
        strange = Path(other.cert).read_text().replace(" CERTIFICATE-", " TRUSTED CERTIFICATE-")
        cert.write_text(strange)
        key.write_bytes(Path(str(other.key)).read_bytes())
        with pytest.raises(meteor.CertificateError, match="cannot be read"):
            transport.renew_tls()
    assert transport._dialling not in loaded
    assert transport._listening not in loaded
