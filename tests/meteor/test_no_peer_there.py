"""A command that is pointed at a port where something else listens says so, within its time."""

from __future__ import annotations

import http.server
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from meteor.cli import exit_codes, main
from tests.certificates import tls

pytestmark = pytest.mark.sockets

TIMEOUT_S = 2.0
SLACK_S = 4.0
"""For a busy machine: without a limit of its own a silent port would take a minute."""


@contextmanager
def web(context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A web server, which knows no such page."""

    class Quiet(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    if context is not None:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def secure_web() -> AbstractContextManager[int]:
    shown = tls("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(str(shown.cert), str(shown.key))
    return web(context)


@contextmanager
def listening(greeting: bytes = b"") -> Iterator[int]:
    """Something that takes connections and says this, or nothing at all."""
    taken: list[socket.socket] = []

    def take(server: socket.socket) -> None:
        while True:
            try:
                taken.append(server.accept()[0])
                taken[-1].sendall(greeting)
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=take, args=[server])
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for one in taken:
                one.close()


def greeting() -> AbstractContextManager[int]:
    return listening(b"SSH-2.0-OpenSSH_9.2\r\n")


@pytest.mark.parametrize(
    ("strange", "said"),
    [
        (web, "is no peer of Meteor's: a web server answers there, with status 501"),
        (secure_web, "it may speak TLS only"),
        (greeting, "is no peer of Meteor's: something else answers there"),
        (listening, ": it is cut off, or overloaded, or no peer of Meteor's"),
    ],
    ids=["web", "secure web", "another protocol", "silence"],
)
@pytest.mark.parametrize("command", [["get", "type=a"], ["doctor"]], ids=["get", "doctor"])
def test_what_is_no_peer_is_said_to_be_none(
    strange: Callable[[], AbstractContextManager[int]],
    said: str,
    command: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    with strange() as port:
        began_s = time.monotonic()
        code = main([*command, "--peer", f"127.0.0.1:{port}", "--timeout", str(TIMEOUT_S)])
        took_s = time.monotonic() - began_s
    shown = capsys.readouterr()
    assert code == exit_codes.UNREACHABLE
    text = " ".join((shown.out + shown.err).split())
    assert said in text
    assert f"127.0.0.1:{port}" in text
    for raw in ("WSServerHandshake", "message=", "url=", "Traceback"):
        assert raw not in text
    assert took_s < TIMEOUT_S + SLACK_S
