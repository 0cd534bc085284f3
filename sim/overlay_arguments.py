"""What an overlay in virtual time is told, checked before anything of it is made or done.

Law of this file: it refuses and changes nothing, in the words of `meteor.LocalOverlay`; whole
numbers of any kind come back as Python's own, as they are written into traces and messages.
"""

from __future__ import annotations

from collections.abc import Sequence

from chord import ChordConfig, RelocationConfig
from meteor import (
    ActingFor,
    ClientConfig,
    Identity,
    KeywordSpace,
    Policy,
    peer_options,
    wrong_values,
)
from sim.clock import ClockPlan
from sim.disk import SimDisk
from sim.kernel import Kernel
from sim.link import MessageCodec
from sim.network import Latency, Network
from squid import RouterConfig


def network_of(
    network: Network | None,
    kernel: Kernel | None,
    seed: int,
    *,
    latency: Latency | None,
    codec: MessageCodec | None,
) -> Network:
    """The network that is given, or one of these parts; raises `ValueError` for both, and
    `TypeError` for what is of another kind."""
    wrong_values.checked_whole("seed", seed)
    wrong_values.check_kind("kernel", kernel, Kernel)
    wrong_values.check_kind("network", network, Network)
    if network is None:
        return Network(kernel or Kernel(seed), latency=latency, codec=codec)
    if latency is not None or codec is not None or kernel is not None:
        raise ValueError("a network has its own kernel, latency and codec")
    return network


def checked_config(
    config: ChordConfig | None,
    space: KeywordSpace,
    *,
    copies: int,
    copies_min: int | None,
    moves: RelocationConfig | None,
    routing: RouterConfig | None,
    policy: Policy | None,
    disk: SimDisk | None,
    clocks: ClockPlan | None,
) -> ChordConfig:
    """The ring's numbers, those of one site where none are given; raises as `meteor.Peer` does for
    what all its peers are told alike."""
    peer_options.check_overlay_space(space)
    peer_options.check_kinds(config=config, moves=moves, routing=routing)
    wrong_values.check_kind("policy", policy, Policy)
    wrong_values.check_kind("disk", disk, SimDisk)
    wrong_values.check_kind("clocks", clocks, ClockPlan)
    chosen = config or ChordConfig.lan()
    peer_options.check_alike(
        chosen, space, copies=copies, copies_min=copies_min, moves=moves, routing=routing
    )
    return chosen


def checked_peers(peers: int, ids: Sequence[int] | None, bits: int) -> tuple[int, list[int] | None]:
    """How many peers, and their identifiers if any are given; raises `ValueError` unless so many
    can form a ring of that many bits with those, `TypeError` for what is no number."""
    count = wrong_values.checked_whole("peers", peers)
    if count < 0:
        raise ValueError(f"peers: {wrong_values.said(count)} is below 0")
    wrong_values.check_kind("ids", ids, (list, tuple, range))
    if ids is None:
        return count, None
    if len(ids) < count:
        raise ValueError(f"{len(ids)} ids for {wrong_values.said(count)} peers")
    known = [checked_identifier(f"ids[{at}]", one, bits) for at, one in enumerate(ids)]
    if len(set(known)) < len(known):
        raise ValueError("ids: one of them is there twice")
    return count, known


def checked_identifier(name: str, value: object, bits: int) -> int:
    """The identifier of a peer; raises `TypeError` for what is no whole number, and `ValueError`
    for one that a ring of that many bits does not have."""
    number = wrong_values.checked_whole(name, value)
    if not 0 <= number < 1 << bits:
        raise ValueError(f"{name}: {wrong_values.said(number)} is no identifier of {bits} bits")
    return number


def check_client(
    peer: int,
    living: int,
    *,
    config: ClientConfig | None,
    first_version: int | None,
    identity: Identity | ActingFor | None,
) -> None:
    """Look at what a client is told; raises `ValueError` where there is no such peer among so many
    living ones, and `TypeError` for what is of another kind."""
    number = wrong_values.checked_whole("peer", peer)
    if living and not -living <= number < living:
        raise ValueError(f"client: peer {wrong_values.said(number)} of {living} living peers")
    wrong_values.check_kind("config", config, ClientConfig)
    if first_version is not None:
        wrong_values.checked_whole("first_version", first_version)
    peer_options.check_kinds(identity=identity)


def checked_end(until: float, now_s: float) -> float:
    """Until when to run; raises `ValueError` for a time that is over or never comes, and
    `TypeError` for what is none."""
    until_s = wrong_values.checked_number("until", until)
    if until_s < now_s:
        raise ValueError(f"run: {until_s} s is over, it is {now_s} s")
    return until_s
