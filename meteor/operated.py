"""What whoever operates a peer asks of it: is it ready, what has it done, read your files again.

Law of this file: it reads what the peer has, and hands files on; nothing of the peer's life is
decided here.  `meteor.Peer` has these as methods, which say what they mean.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from meteor.links.asyncio_aside import aside
from meteor.operation.snapshot import Snapshot, take
from meteor.security import policy_file

if TYPE_CHECKING:
    from meteor.journal.journal import Journal
    from meteor.links.asyncio_runtime import AsyncioRuntime
    from meteor.links.transport import Transport
    from meteor.peer_options import PeerOptions
    from meteor.rendezvous.rendezvous_peer import RendezvousPeer

_log = logging.getLogger("meteor.peer")


def whereabouts(runtime: AsyncioRuntime | None) -> dict[str, str]:
    """Address and identifier, as far as there are any."""
    if runtime is None:
        return {}
    return {"address": runtime.contact.address, "id": f"{runtime.contact.id:x}"}


def unreadiness(core: RendezvousPeer | None, *, settled: bool, stopped: bool) -> str:
    """Why posts are not served; empty when they are."""
    if stopped:
        return "this peer has stopped"
    if core is None:
        return "this peer leaves its ring" if settled else "this peer starts"
    return "" if settled else "this peer does not hold its part of the ring yet"


def snapshot(
    core: RendezvousPeer | None,
    runtime: AsyncioRuntime | None,
    transport: Transport | None,
    journal: Journal | None,
) -> Snapshot | None:
    """The counters; None while the peer does not serve."""
    if core is None or runtime is None:
        return None
    return take(core, runtime, transport, journal)


async def reload_policy(options: PeerOptions, core: RendezvousPeer) -> None:
    """Read the policy's file again; raises `PolicyError`, `ValueError` where there is none."""
    if options.policy_file is None:
        raise ValueError("reload_policy: this peer was given no policy file")
    await policy_file.reload_policy(options.policy_file, core.gatekeeper, aside)


def reload_certificates(options: PeerOptions, transport: Transport | None) -> None:
    """Read the files of TLS again; raises `CertificateError`, `ValueError` where there is none."""
    renew = getattr(transport, "renew_tls", None)
    if options.tls is None or renew is None:
        raise ValueError("reload_certificates: this peer was given no TLS")
    renew()


def report_damage(core: RendezvousPeer, options: PeerOptions) -> None:
    """Say which records of the data directory could not be read, and were set aside."""
    restored = core.restored
    if restored is not None and restored.damaged:
        _log.warning(
            "%s: %d damaged records were set aside, %d are read; the first is %r",
            options.data_dir, len(restored.damaged), restored.records, restored.damaged[0],
        )  # fmt: skip
