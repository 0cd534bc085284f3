"""What it means that a dial failed: the errors of aiohttp and TLS in the ring's own terms.

Law of this file: pure.  Only a connection that the other host refuses says that nobody is there
(`DialRefused`); a refusal by a peer itself says that it does not serve (`DialRejected`).  Upon both
pointers change; by the latter it is not dead.  A certificate that does not fit proves nothing:
whoever sits on the way could show one, and would have peers evicted.
"""

from __future__ import annotations

import errno
import ssl
from typing import Final

import aiohttp

from chord import DialRefused, DialRejected, LinkClosed
from meteor.errors import VersionMismatch
from meteor.links.transport import DialsCrossed
from meteor.links.websocket_channel import VERSION_HEADER
from meteor.wire.codec import WIRE_VERSION

REASON_HEADER: Final = "Meteor-Reason"
"""Why a dial was refused: a body that comes with a refused upgrade is not read by aiohttp."""
_REASON_LENGTH_MAX: Final = 500


def meaning_of(address: str, error: Exception, *, protected: bool) -> Exception:
    """The error to raise for a dial of `address` that ended with this one; `protected` says
    whether it was to be a TLS connection."""
    if isinstance(error, aiohttp.WSServerHandshakeError):
        return _refusal(address, error)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return LinkClosed(f"{address}: {_doubt(error.certificate_error)}")
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return LinkClosed(f"{address}: {_doubt(error.os_error)}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return _unconnected(address, error.os_error)
    if isinstance(error, aiohttp.InvalidURL | ValueError):
        return DialRefused(f"{address!r} is no address: {error}")
    hung_up = isinstance(error, OSError) and error.errno in (errno.ECONNRESET, errno.EPIPE)
    if hung_up or isinstance(error, aiohttp.ServerDisconnectedError):
        return LinkClosed(f"{address} ended the dial: {_hint(protected)}")
    if isinstance(error, TimeoutError):
        return LinkClosed(
            f"{address} did not answer the dial: it is cut off, or overloaded, or no peer of "
            "Meteor's"
        )
    if isinstance(error, aiohttp.ClientResponseError):  # it does not even speak HTTP
        return LinkClosed(f"{address} is no peer of Meteor's: something else answers there")
    why = str(error) or type(error).__name__
    return LinkClosed(f"{address} did not answer the dial: {why}")


def _unconnected(address: str, error: OSError) -> Exception:
    """Only a refused connection says that nobody is there; silence and lost routes do not."""
    if error.errno == errno.ECONNREFUSED:
        return DialRefused(f"nobody listens at {address}")
    return LinkClosed(f"{address} cannot be reached: {error.strerror or error}")


def _doubt(error: Exception) -> str:
    """Why a handshake failed, in words that say what to do."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not accepted: {error.verify_message}"
    reason = getattr(error, "reason", None) or str(error)
    if reason == "WRONG_VERSION_NUMBER" or "RECORD_LAYER" in reason:
        return "it does not speak TLS: leave out tls= (--tls-ca), or let that peer speak it"
    return f"the TLS handshake failed: {reason.lower().replace('_', ' ')}"


def _hint(protected: bool) -> str:
    """Who asks for a certificate says so by hanging up, after our side of the handshake."""
    if protected:
        return (
            "it may require a certificate of its CA (cert= and key=; --tls-cert, --tls-key), or "
            "has just stopped"
        )
    return "it may speak TLS only (give tls=, --tls-ca), or has just stopped"


def _refusal(address: str, error: aiohttp.WSServerHandshakeError) -> Exception:
    """What the status of a refused dial means."""
    headers = error.headers
    reason = _words("" if headers is None else headers.get(REASON_HEADER, ""))
    if error.status == 409:
        return DialsCrossed(f"{address} is dialling us")
    if error.status == 426:
        theirs = _version("" if headers is None else headers.get(VERSION_HEADER, ""))
        return VersionMismatch(
            f"{address} speaks wire version {theirs or 'unknown'}, this side {WIRE_VERSION}: "
            "upgrade the older of the two",
            ours=WIRE_VERSION,
            theirs=theirs,
        )
    if reason:
        return DialRejected(f"{address} refused the dial: {reason}")
    if error.status == 503:
        return DialRejected(f"{address} does not serve yet, or has just stopped (status 503)")
    return DialRejected(
        f"{address} is no peer of Meteor's: a web server answers there, with status {error.status}"
    )


def _version(header: str) -> int:
    """The wire version in a header, one byte as it travels; 0 where there is none."""
    return int(header) if header.isascii() and header.isdigit() and len(header) <= 3 else 0


def _words(header: str) -> str:
    """What a header says, as far as that can be said to others: its bytes are anybody's."""
    cut = header[:_REASON_LENGTH_MAX]
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in cut)
