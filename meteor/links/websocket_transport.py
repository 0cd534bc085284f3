"""Links over WebSockets, on one port that also serves whatever HTTP the peer adds.

Law of this file: every limit and time-out is set here and none is aiohttp's default.  At the door
are refused: another wire version (426), a browser (403: it sends Origin), a contact that makes no
sense (400), a dial that crosses our own (409), a peer that does not serve yet or any more (503),
and, under TLS, whoever claims to be a peer without a certificate that says so (403).

    transport = WebSocketTransport("127.0.0.1:0")
    transport.app.router.add_get("/healthz", healthy)     # before `listen`
    address = await transport.listen()
"""

from __future__ import annotations

import asyncio
import errno
import ssl
from typing import Any, Final

import aiohttp
from aiohttp import web

from chord import Contact, DialRefused, DialRejected, LinkClosed
from meteor.errors import AddressInUse
from meteor.links.address import checked_address, host_of
from meteor.links.asyncio_names import NameThreads
from meteor.links.transport import DIAL_TIMEOUT_S, Acceptor
from meteor.links.websocket_channel import (
    BEAT_S,
    CONTACT_HEADER,
    LINGER_S,
    MESSAGE_BYTES_MAX,
    PROTOCOL,
    READ_BYTES,
    VERSION_HEADER,
    DialledSocket,
    Traffic,
    WebSocketChannel,
    contact_header,
    parse_contact,
)
from meteor.links.websocket_door import KEEP_ALIVE_S, Door, told_to
from meteor.links.websocket_refusals import REASON_HEADER, meaning_of
from meteor.security.tls import HANDSHAKE_TIMEOUT_S, TLS, refusal_of_peer
from meteor.wire.codec import FRAME_BYTES_MAX, WIRE_VERSION, MalformedFrame

SHUTDOWN_S: Final = 0.5
"""How long open HTTP requests may take when the peer stops; links are closed at once."""
TURNS_TO_ACCEPT: Final = 3
"""Loop turns from asyncio's taking a connection to aiohttp's knowing it.  A server that is closed
between would leave that connection open (CPython issue 109564)."""
BACKLOG: Final = 512
"""Dials that may wait to be taken: a ring of peers starts at one moment."""

_SHAKEN: Final = (
    "Connection", "Upgrade", "Sec-WebSocket-Key", "Sec-WebSocket-Protocol", "Sec-WebSocket-Version",
)  # fmt: skip
"""Headers that are looked at, here or by aiohttp, and said back to who sent what does not fit."""


class WebSocketTransport:
    """A peer's transport over sockets; a client's if it never listens.

    `listen` is `host:port`, port 0 takes any; `advertise` is the address that others dial, needed
    when listening on a wildcard.  `app` is the aiohttp application on the same port.  With `tls`
    all of it is wss and https.

    Raises `CertificateError` where the files of `tls` cannot be used."""

    def __init__(self, listen: str = "", *, advertise: str = "", tls: TLS | None = None) -> None:
        self._door: list[Door] = []  # one, from when it listens
        self.app = web.Application(
            client_max_size=FRAME_BYTES_MAX, middlewares=[told_to(self._door)]
        )
        self._listen = listen
        self._advertise = advertise
        self._tls = tls
        self._dialling = None if tls is None else tls.client_context()
        self._listening = None if tls is None or not listen else tls.server_context()
        self.certificate_end_s = None if tls is None else tls.end_s()
        self._contact: Contact | None = None
        self._acceptor: Acceptor | None = None
        self._runner: web.AppRunner | None = None
        self._server: asyncio.Server | None = None
        self._session: aiohttp.ClientSession | None = None
        self._names = NameThreads()
        self._channels: dict[WebSocketChannel, None] = {}
        self.traffic = Traffic()
        self._sockets: set[asyncio.Future[None]] = set()
        self._buffer = memoryview(bytearray(READ_BYTES))
        self._stopping = asyncio.Event()
        self._keeper: asyncio.Task[None] | None = None
        self._heart: asyncio.TimerHandle | None = None

    def for_client(self) -> WebSocketTransport:
        """A client's transport over sockets."""
        return WebSocketTransport(tls=self._tls)

    def renew_tls(self) -> None:
        """Read the files of TLS again, for links that open from now on.

        Raises `CertificateError`, and leaves everything as it was."""
        if self._tls is not None:
            self._tls.client_context()  # whether they can be used at all, before any is
            end_s = self._tls.end_s()
            for context in (self._dialling, self._listening):
                if context is not None:
                    self._tls.load_into(context)
            self.certificate_end_s = end_s

    async def listen(self) -> str:
        """Take dials and requests, and return the address that others dial.

        Raises `AddressInUse`; other `OSError`s mean that the host has no such address."""
        host, _, port = self._listen.rpartition(":")
        self._keep()
        self.app.router.add_get("/peer", self._welcome)
        self._runner = web.AppRunner(
            self.app, handle_signals=False, access_log=None, shutdown_timeout=SHUTDOWN_S,
            keepalive_timeout=KEEP_ALIVE_S,
        )  # fmt: skip
        await self._runner.setup()
        assert self._runner.server is not None
        door = Door(self._runner.server)
        self._door.append(door)
        try:
            self._server = await asyncio.get_running_loop().create_server(
                door,
                host.strip("[]") or None,
                int(port),
                backlog=BACKLOG,
                **_tls_options(self._listening),
            )
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise AddressInUse(
                    f"listen on {self._listen}: another program has this port; choose another one",
                    self._listen,
                ) from error
            raise
        taken = self._server.sockets[0].getsockname()[1]
        return self._advertise or f"{host}:{taken}"

    def serve(self, contact: Contact, acceptor: Acceptor) -> None:
        """Introduce this peer as `contact`; dials before this are refused."""
        self._contact, self._acceptor = contact, acceptor

    async def dial(self, address: str) -> WebSocketChannel:
        """Open a channel; raises as `meteor.links.transport.Transport.dial` says."""
        assert self._contact is not None
        if self._stopping.is_set():
            raise DialRefused("this peer has stopped")
        self._keep()
        scheme = "http" if self._dialling is None else "https"
        try:
            async with asyncio.timeout(DIAL_TIMEOUT_S):
                socket = await self._open_session().ws_connect(
                    f"{scheme}://{checked_address('dial', address)}/peer",
                    protocols=(PROTOCOL,),
                    headers={CONTACT_HEADER: contact_header(self._contact)},
                    autoping=False,
                    max_msg_size=MESSAGE_BYTES_MAX,
                    compress=0,
                )
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise meaning_of(address, error, protected=self._dialling is not None) from error
        assert isinstance(socket, DialledSocket)
        return self._dialled(address, socket, self._contact)

    def _dialled(self, address: str, socket: DialledSocket, own: Contact) -> WebSocketChannel:
        """The channel over a dialled socket, whose other side has introduced itself."""
        transport = socket.transport
        try:
            contact = parse_contact(socket.headers.get(CONTACT_HEADER, ""))
        except MalformedFrame as error:
            socket.release()
            raise DialRefused(f"no peer of Meteor's listens at {address}: {error}") from error
        if not contact.address or contact.address == own.address:
            # What this peer says to itself, or to that client, would go to whoever says so.
            socket.release()
            whom = "this peer itself" if contact.address else "a client"
            raise DialRejected(f"{address} answers as {whom}")
        refusal = self._refusal(contact, transport)
        if transport is None or transport.is_closing():
            refusal = "it ended the dial"
        if refusal is not None or transport is None:
            socket.release()
            raise LinkClosed(f"{address}: {refusal}")
        return self._channel(contact, transport, socket)

    def _channel(
        self, contact: Contact, transport: asyncio.Transport, socket: DialledSocket | None = None
    ) -> WebSocketChannel:
        channel = WebSocketChannel(
            contact, transport, self._channels, self.traffic, self._buffer, socket
        )
        self._sockets.add(channel.gone)
        channel.gone.add_done_callback(self._sockets.discard)
        return channel

    @property
    def links(self) -> int:
        """How many links are open now, clients' among them."""
        return len(self._channels)

    def stop(self) -> None:
        """At once: no more dials, every channel flushed and closed."""
        self._stopping.set()
        if self._heart is not None:
            self._heart.cancel()
        loop = asyncio.get_running_loop()
        if self._server is not None and isinstance(loop, asyncio.SelectorEventLoop):
            for listening in self._server.sockets:  # other loops accept until it is closed
                loop.remove_reader(listening.fileno())
        for channel in list(self._channels):
            channel.close("stopped")

    async def close(self) -> None:
        """Stop, and return when every socket is released.  Releasing goes on where whoever waits
        is cancelled; and where a loop that ends cancels that, whoever waits is not."""
        self.stop()
        if self._keeper is not None:
            await asyncio.wait([self._keeper])
            if not self._keeper.cancelled():
                self._keeper.result()

    def _keep(self) -> None:
        if self._keeper is None:
            loop = asyncio.get_running_loop()
            self._keeper = loop.create_task(self._release_at_end())
            self._heart = loop.call_later(BEAT_S, self._beat)

    def _beat(self) -> None:
        """Let every channel look whether its other side lives."""
        self._heart = asyncio.get_running_loop().call_later(BEAT_S, self._beat)
        for channel in list(self._channels):
            channel.beat()

    async def _release_at_end(self) -> None:
        """Release everything when stopped, or when the loop ends without a `close`."""
        try:
            await self._stopping.wait()
        finally:
            self.stop()
            for _ in range(TURNS_TO_ACCEPT):
                await asyncio.sleep(0)
            if self._server is not None:
                self._server.close()
            if self._session is not None:
                await self._session.close()
            await self._names.close()
            for door in self._door:
                door.stop()
            if self._runner is not None:
                await self._runner.cleanup()
            if self._sockets:
                await asyncio.wait(list(self._sockets))

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=0,
                    force_close=True,
                    ssl=self._dialling or True,
                    resolver=self._names,
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=DIAL_TIMEOUT_S),
                trust_env=False,
                ws_response_class=DialledSocket,
                trace_configs=[_going_nowhere_else()],
            )
        return self._session

    # ---- the door ----------------------------------------------------------------------------

    async def _welcome(self, request: web.Request) -> web.StreamResponse:
        """Take or refuse a dial; the request lasts as long as its link."""
        if "Origin" in request.headers:
            return web.Response(status=403, text="a browser cannot open a peer link")
        if not all(request.headers.get(name, "").isascii() for name in _SHAKEN):
            return web.Response(status=400, text="these headers are no text")
        offered = request.headers.get("Sec-WebSocket-Protocol", "")
        if PROTOCOL not in [protocol.strip() for protocol in offered.split(",")]:
            return web.Response(
                status=426,
                headers={VERSION_HEADER: str(WIRE_VERSION), "Upgrade": PROTOCOL},
                text=f"this peer speaks {PROTOCOL}, you offered {offered or 'nothing'}",
            )
        try:
            contact = parse_contact(request.headers.get(CONTACT_HEADER, ""))
        except MalformedFrame as error:
            return web.Response(status=400, text=str(error))
        stranger = self._refusal(contact, request.transport)
        if stranger is not None:
            self.traffic.strangers += 1
            return web.Response(status=403, headers={REASON_HEADER: stranger}, text=stranger)
        if self._contact is None or self._acceptor is None or self._stopping.is_set():
            return web.Response(status=503, text="this peer does not serve")
        if contact.address == self._contact.address:
            # What this peer says to itself would go to whoever says so, if it is not itself.
            text = "this address is the peer's own"
            return web.Response(status=403, headers={REASON_HEADER: text}, text=text)
        if not contact.address and contact.id == self._contact.id:
            # What this peer's own program is to be told would go to whoever says so.
            text = "this identifier is the peer's own, and no client's"
            return web.Response(status=403, headers={REASON_HEADER: text}, text=text)
        refusal = self._acceptor.refusal(contact)
        if refusal is not None:
            return web.Response(status=409, text=refusal)
        return await self._take(request, contact, self._contact, self._acceptor)

    async def _take(
        self, request: web.Request, contact: Contact, own: Contact, acceptor: Acceptor
    ) -> web.StreamResponse:
        socket = web.WebSocketResponse(
            protocols=(PROTOCOL,),
            autoping=False,
            max_msg_size=MESSAGE_BYTES_MAX,
            compress=False,
        )
        socket.headers[CONTACT_HEADER] = contact_header(own)
        try:
            await socket.prepare(request)
        except ConnectionResetError:  # the dialler is gone; what is returned goes nowhere
            return web.Response(status=503, text="nobody is there")
        transport = request.transport
        if transport is None or transport.is_closing() or self._stopping.is_set():
            return socket
        channel = self._channel(contact, transport)
        acceptor.opened(channel)
        try:
            await asyncio.shield(channel.gone)
        finally:
            channel.close("the loop ends")
        return socket

    def _refusal(self, contact: Contact, transport: asyncio.BaseTransport | None) -> str | None:
        """Why the other side of a connection is not the peer it says it is; clients need no
        address, and no certificate but where OpenSSL asks for one."""
        if self._tls is None or not contact.address or transport is None:
            return None
        return refusal_of_peer(transport.get_extra_info("peercert"), host_of(contact.address))


def _going_nowhere_else() -> aiohttp.TraceConfig:
    """Ends a dial that is sent elsewhere, which aiohttp would follow, from TLS to none as well."""

    async def end(_: object, __: object, sent: aiohttp.TraceRequestRedirectParams) -> None:
        answer = sent.response
        answer.close()
        raise aiohttp.WSServerHandshakeError(
            answer.request_info, answer.history, status=answer.status, headers=answer.headers
        )

    trace = aiohttp.TraceConfig()
    trace.on_request_redirect.append(end)
    return trace


def _tls_options(context: ssl.SSLContext | None) -> dict[str, Any]:
    """What asyncio's server takes for TLS, and refuses to be given without."""
    if context is None:
        return {}
    return {
        "ssl": context,
        "ssl_handshake_timeout": HANDSHAKE_TIMEOUT_S,
        "ssl_shutdown_timeout": LINGER_S,
    }
