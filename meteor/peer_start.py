"""What a peer that starts finds out before it is a peer: its journal, its identifier, its space.

Law of this file: questions asked once, in this order, each answered from what was given, then from
what was kept, then by the ring.  No state stays here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from chord import CallError, Contact, ask_for_place, identifier
from meteor.errors import JoinFailed, SpaceError, SpaceMismatch, VersionMismatch
from meteor.journal.first_look import FirstLook
from meteor.journal.journal import Entries, Entry, Journal, Scan, UnreadJournal
from meteor.journal.no_collections import no_collections
from meteor.keeping.shelf_journal import Contents, read
from meteor.links.asyncio_aside import aside
from meteor.links.asyncio_event_files import EventFiles
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.transport import Transport
from meteor.peer_options import PeerOptions
from meteor.rendezvous.event_log import log_events
from meteor.rendezvous.rendezvous_peer import RendezvousPeer
from meteor.rendezvous.ring_note import RING_KEY, state_in
from meteor.security.gatekeeper import Gatekeeper
from meteor.security.policy_file import PolicyFile, reload_policy, watch_over
from meteor.wire import codec
from meteor.wire.greeting import greet, said_of
from meteor.wire.operations import PeerNote
from squid import Intervals, KeywordSpace

IDENTITY_KEY = b"peer"
"""Under which a journal keeps whose it is."""


async def open_journal(
    options: PeerOptions, wall_clock: Callable[[], float]
) -> tuple[Journal, Contents | None]:
    """The journal of the data directory, else one that nobody reads, and what it holds, where its
    space is known; raises `DataDirLocked`."""
    if options.data_dir is None:
        return UnreadJournal(), None
    from meteor.journal.sqlite_journal import SqliteJournal  # noqa: PLC0415 - only where it is used

    look = FirstLook(partial(_contents, options, wall_clock))
    with no_collections():
        journal = await SqliteJournal.open(options.data_dir / "meteor.sqlite", first_look=look)
        contents = look.made
        if contents is None:  # it is new, or was damaged
            contents = _contents(options, wall_clock, await journal.scan())
    return journal, contents


def _contents(options: PeerOptions, wall_clock: Callable[[], float], scan: Scan) -> Contents | None:
    """What a journal holds, by the space that it will be read with."""
    space, entries = options.space, Entries.of(scan.entries)
    if space is None and IDENTITY_KEY in entries.keys:
        note = _note_in(entries.values[entries.keys.index(IDENTITY_KEY)])
        space = None if note is None else KeywordSpace.from_toml(note.space)
    return None if space is None else read(scan, space.curve, int(wall_clock() * 1000))


async def read_note(journal: Journal) -> PeerNote | None:
    """Whose journal it is; None for a new one.  Raises `VersionMismatch`."""
    return _note_in(await journal.read(IDENTITY_KEY))


def _note_in(value: bytes | None) -> PeerNote | None:
    try:
        note = None if value is None else codec.decode(value)
    except VersionMismatch as error:  # there is no other side here
        raise VersionMismatch(
            f"what the data directory keeps was written by another release of Meteor, in wire "
            f"version {error.theirs}; this one reads {error.ours}: start this peer with that "
            "release, or give it another data directory", error.ours, error.theirs,
        ) from error  # fmt: skip
    return note if isinstance(note, PeerNote) else None


async def keep_note(journal: Journal, note: PeerNote) -> None:
    """Write whose journal it is."""
    await journal.append([Entry(IDENTITY_KEY, codec.encode(note))])


def next_incarnation(note: PeerNote | None, wall_s: float) -> int:
    """A number that no earlier life of this peer had, in milliseconds of Unix time.  A journal may
    have the note of a life before the last: one that lost something, or was put back from a backup,
    which looks whole, or a new one at an old address.  So it goes by the clock, as nobody starts a
    peer once a millisecond.  The same number again would be taken for the same life, which
    remembers all that it ever knew."""
    following = 0 if note is None else note.incarnation + 1
    return max(following, int(wall_s * 1000))


async def open_event_log(
    options: PeerOptions,
    peer: RendezvousPeer,
    runtime: AsyncioRuntime,
    wall_clock: Callable[[], float],
) -> EventFiles | None:
    """Begin to write down what happens at a peer, where its options say so; raises `OSError`."""
    if options.event_log is None:
        return None
    files = EventFiles(options.event_log, f"{runtime.contact.id:040x}")
    await files.open()
    log_events(peer, runtime, wall_clock, files.put, id_bits=options.config.bits)
    return files


async def begin_policy(
    options: PeerOptions, gatekeeper: Gatekeeper, runtime: AsyncioRuntime
) -> None:
    """Let the policy hold that was given; a file is followed from now on.  Raises `PolicyError`."""
    policy = options.policy
    if isinstance(policy, PolicyFile):
        await reload_policy(policy, gatekeeper, aside)
        runtime.spawn(watch_over(runtime, policy, gatekeeper, aside))
    elif policy is not None:
        gatekeeper.install(policy)


def make_transport(options: PeerOptions) -> Transport:
    """The transport given, else sockets at the address to listen on; raises `CertificateError`."""
    if options.transport is not None:
        return options.transport
    from meteor.links.websocket_transport import WebSocketTransport  # noqa: PLC0415 - it is slow

    return WebSocketTransport(options.listen, advertise=options.advertise or "", tls=options.tls)


def without_itself(options: PeerOptions, address: str, note: PeerNote | None) -> PeerOptions:
    """The options of a peer at this address without itself among those to join by: peers of a ring
    often share one list of all.  Raises `JoinFailed` where a new peer has nobody else to join."""
    itself = {address, options.listen}
    others = tuple(one for one in options.join if one not in itself)
    if options.join and not others and note is None and not options.found_if_alone:
        raise JoinFailed(
            f"join names {', '.join(options.join)} alone, which is this peer itself: name another "
            "peer of the ring, or leave join (--join) out to found one",
            tuple(f"{one}: it is this peer itself" for one in options.join),
        )
    return replace(options, join=others)


async def kept_id(
    journal: Journal, note: PeerNote | None, moved: Sequence[Intervals] = ()
) -> int | None:
    """Under which identifier the peer of a journal was a member last.  That of its note, unless it
    fell before it was one there: then that of the ring that it knew before it moved, and none where
    it has nothing but its note.  What it was told as its place was kept free for some seconds, and
    may be another peer's by now.

    None as well for one that has just `moved` away from there.  Raises `JoinFailed` where nobody
    took what it had there: that counts by the identifier of before, which views name."""
    if any(moved):
        raise JoinFailed("what this peer held was not handed over: start it in its place again")
    if note is None or moved:
        return None
    ring = await journal.read(RING_KEY)
    state = None if ring is None else state_in(ring)
    if state is not None:
        return state.contact.id
    scan = await journal.scan()
    is_new = all(entry.key == IDENTITY_KEY for entry in scan.entries)
    return None if is_new and not scan.damaged and not scan.incomplete else note.id


async def choose_id(
    options: PeerOptions, kept: int | None, address: str, transport: Transport
) -> int:
    """A kept id wins: a restarted peer is the same peer.  Else where the ring wants it, or by hash
    of the address."""
    if kept is not None:
        return kept
    if options.id is not None:
        return options.id
    hashed = identifier(address, options.config.bits)
    if options.config.placement == "hash" or not options.join:
        return hashed
    place = await _ask_for_place(options, hashed, transport.for_client())
    return hashed if place is None else place


async def _ask_for_place(options: PeerOptions, hashed: int, transport: Transport) -> int | None:
    """Ask as a client, being no peer yet; the seed is such that the same peer asks alike."""
    visitor = AsyncioRuntime(Contact(hashed, ""), transport, options.seed)
    try:
        return await ask_for_place(visitor, options.contacts, seed=hashed)
    finally:
        await visitor.aclose()


async def choose_space(
    options: PeerOptions, note: PeerNote | None, runtime: AsyncioRuntime
) -> KeywordSpace:
    """The space given, else the one kept, else the ring's.

    Raises `SpaceMismatch`, `SpaceError` where there is none, `JoinFailed` where nobody answers."""
    given = options.space
    kept = None if note is None else KeywordSpace.from_toml(note.space)
    if given is not None and kept is not None and given.digest != kept.digest:
        # what was kept lies in cells of its own space: in another one nobody would find it
        raise SpaceMismatch(f"{given.difference(kept)} (there: what {options.data_dir} keeps)")
    return given or kept or await _space_of_ring(options, runtime)


async def _space_of_ring(options: PeerOptions, runtime: AsyncioRuntime) -> KeywordSpace:
    tried = []
    for contact in options.contacts:
        try:
            greeting = await greet(runtime, contact, None)
        except CallError as error:
            tried.append(said_of(contact, error))
            continue
        return KeywordSpace.from_toml(greeting.space)
    if tried:
        raise JoinFailed(
            f"no ring to take a keyword space from: {'; '.join(tried)}. Start one of these peers "
            "first, or found a ring: give space= (--space FILE) and found_if_alone=True "
            "(--found-if-alone)",
            tuple(tried),
        )
    raise SpaceError("a peer that founds a ring needs a keyword space: give space=")
