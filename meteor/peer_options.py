"""What a peer is told when it is made, checked before anything is opened.

Law of this file: frozen values and their checks, no I/O.  `meteor.Peer` takes these as keyword
arguments; a peer that comes back elsewhere is made of the same ones (`meteor.Peer.relocated`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from chord import HASH_BITS, ChordConfig, Contact, RelocationConfig
from meteor.copies.config import check_copies, check_copies_min
from meteor.errors import Refused
from meteor.links.address import checked_address, checked_listen, is_loopback
from meteor.links.transport import Transport
from meteor.rest.config import RestConfig
from meteor.security.credentials import Signer, check_signer
from meteor.security.policy import Policy
from meteor.security.policy_file import PolicyFile
from meteor.security.tls import TLS
from meteor.wrong_values import (
    check_kind,
    check_numbers,
    check_path,
    checked_truth,
    checked_whole,
    said,
)
from squid import KeywordSpace, RouterConfig

Preset = Literal["local", "lan", "wan"]
"""Named sets of the ring's numbers: one machine, one site, the Internet."""


@dataclass(frozen=True, kw_only=True)
class PeerOptions:
    """Everything that `meteor.Peer` may be told; its docstring says what each means."""

    space: KeywordSpace | None
    listen: str
    join: tuple[str, ...]
    data_dir: Path | None
    advertise: str | None
    found_if_alone: bool
    id: int | None
    config: ChordConfig
    transport: Transport | None
    seed: int | None
    moves: RelocationConfig | None
    copies: int
    copies_min: int | None
    tls: TLS | None
    insecure: bool
    routing: RouterConfig | None
    event_log: Path | None
    rest: RestConfig | None
    identity: Signer | None
    policy: Policy | PolicyFile | None

    @classmethod
    def checked(
        cls,
        *,
        join: Sequence[str],
        data_dir: str | Path | None,
        event_log: str | Path | None,
        config: ChordConfig | None,
        preset: Preset | None,
        policy: Policy | PolicyFile | str | Path | None,
        **others: Any,
    ) -> PeerOptions:
        """The options of these arguments; raises `ValueError`, `TypeError` or `Refused` for those
        with which no peer could run, or none safely."""
        if isinstance(join, str | bytes) or not isinstance(join, Sequence):
            raise TypeError(f"join: give a list of addresses, not {said(join)}")
        check_space(others["space"])
        check_kinds(config=config, policy=policy, data_dir=data_dir, event_log=event_log, **others)
        options = cls(
            join=tuple(checked_address("join", address) for address in join),
            data_dir=None if data_dir is None else Path(data_dir),
            event_log=None if event_log is None else Path(event_log),
            config=chosen_config(config, preset),
            policy=PolicyFile(policy) if isinstance(policy, str | Path) else policy,
            **others,
        )
        options._check()
        return options

    def _check(self) -> None:
        if self.transport is None:
            checked_listen(self.listen, self.advertise)
            check_clear(self.listen, protected=self.tls is not None, insecure=self.insecure)
        elif self.tls is not None:
            raise ValueError("tls: a transport that was given has its own encryption; leave it out")
        elif not callable(getattr(self.transport, "dial", None)):
            raise TypeError(f"transport: {said(self.transport)} cannot dial; leave it out")
        if self.tls is not None:
            self.tls.check_peer()
        check_alike(
            self.config, self.space, copies=self.copies, copies_min=self.copies_min,
            moves=self.moves, routing=self.routing,
        )  # fmt: skip
        if self.id is not None and not 0 <= checked_whole("id", self.id) < 1 << self.config.bits:
            raise ValueError(f"id: {said(self.id)} is not between 0 and 2**{self.config.bits} - 1")

    @property
    def policy_file(self) -> PolicyFile | None:
        """The file that the policy is in, if it is in one."""
        return self.policy if isinstance(self.policy, PolicyFile) else None

    @property
    def contacts(self) -> list[Contact]:
        """The peers to join by."""
        return [Contact.at(address) for address in self.join]

    async def find(self) -> Sequence[str]:
        """Their addresses, as whoever seeks company asks for them."""
        return self.join

    def arguments(self, **changed: Any) -> dict[str, Any]:
        """The keyword arguments that make a peer of these options, some of them changed."""
        options = replace(self, **changed)
        return {field.name: getattr(options, field.name) for field in fields(options)}


def chosen_config(config: ChordConfig | None, preset: Preset | None) -> ChordConfig:
    """The ring's numbers: those given, else those of the preset, else those of one machine.

    Raises `ValueError` for an unknown preset, and for both at once."""
    if preset is None:
        return config or ChordConfig.local()
    if config is not None:
        raise ValueError(f"preset: {preset!r} and config= both choose the ring's numbers; give one")
    if not isinstance(preset, str) or preset not in get_args(Preset):
        raise ValueError(f"preset: {said(preset)} is none of {', '.join(get_args(Preset))}")
    presets = {"local": ChordConfig.local, "lan": ChordConfig.lan, "wan": ChordConfig.wan}
    return presets[preset]()


_RING_MAY_BE_ZERO: Final = {
    "call_timeout_s_min", "heir_count", "arc_cache_max", "departed_s", "remembered_max",
    "remembered_s", "state_interval_s", "resume_patience_s",
}  # fmt: skip
_MOVES_MAY_BE_ZERO: Final = {"light", "looks", "heavy", "share", "load_min", "relief"}


def check_ring(config: ChordConfig, space: KeywordSpace | None) -> None:
    """Raises `ValueError` or `TypeError` for numbers with which a peer never rests, or stops as
    soon as it would: its loops sleep as long as they say."""
    check_numbers(config, _RING_MAY_BE_ZERO)
    if config.bits > HASH_BITS:
        raise ValueError(f"bits: {said(config.bits)} is more than the {HASH_BITS} of the hash")
    if space is not None and config.bits < space.curve.index_bits:
        raise ValueError(
            f"bits: identifiers of {config.bits} are too short for the {space.curve.index_bits} "
            f"bits of an index of space {space.name!r}"
        )
    if config.placement not in ("load", "hash"):
        raise ValueError(f"placement is 'load' or 'hash', not {said(config.placement)}")


def check_alike(
    config: ChordConfig,
    space: KeywordSpace | None,
    *,
    copies: int,
    copies_min: int | None = None,
    moves: RelocationConfig | None = None,
    routing: RouterConfig | None = None,
) -> None:
    """Look at what all peers of a ring are told alike; raises as `check_ring` does."""
    check_ring(config, space)
    if moves is not None:
        check_numbers(moves, _MOVES_MAY_BE_ZERO)
    if routing is not None:
        check_numbers(routing, ())
    check_copies_min(copies_min, check_copies(copies, config))


KINDS: Final[dict[str, type | tuple[type, ...]]] = {
    "config": ChordConfig,
    "policy": (Policy, PolicyFile, str, Path),
    "data_dir": (str, Path),
    "event_log": (str, Path),
    "tls": TLS,
    "moves": RelocationConfig,
    "routing": RouterConfig,
    "rest": RestConfig,
}


def check_kinds(**options: object) -> None:
    """Raises `TypeError` for an option of another kind than it has: one that is taken by its truth
    alone, as `insecure="no"`, would be taken for its opposite."""
    for name, value in options.items():
        if name in ("insecure", "found_if_alone"):
            checked_truth(name, value)
        elif name == "seed" and value is not None:
            checked_whole(name, value)
        elif name == "identity":
            check_signer(value)
        elif name in KINDS:
            check_kind(name, value, KINDS[name])
            if isinstance(value, str | Path):
                check_path(name, value)


def check_space(space: object) -> None:
    """Raises `TypeError` for what is neither a keyword space nor None."""
    if not isinstance(space, KeywordSpace | None):
        raise TypeError(
            f"space: give a meteor.KeywordSpace, not {type(space).__name__}; "
            "KeywordSpace.from_toml(text) makes one of a file's text"
        )


def check_overlay_space(space: object) -> None:
    """The same for an overlay in one process, whose peers learn the space from nobody: raises
    `TypeError` for None, too."""
    if space is None:
        raise TypeError("space: an overlay needs a meteor.KeywordSpace")
    check_space(space)


def check_clear(listen: str, *, protected: bool, insecure: bool) -> None:
    """Refuse to serve others than this machine in the clear; raises `Refused("insecure")`.

    Without TLS everybody on the way reads and changes what is posted, and every machine that
    reaches the port may join the ring and hold its data: nobody should get that by a default."""
    if protected or insecure or is_loopback(listen):
        return
    raise Refused(
        f"listen: {listen} is reached from other machines, and without TLS everybody on the way "
        "could read along and any machine could join. Give tls=meteor.TLS(...) (--tls-ca, "
        "--tls-cert, --tls-key; `meteor certs` makes them), listen on 127.0.0.1, or say "
        "insecure=True (--insecure) where the network itself is trusted",
        "insecure",
    )
