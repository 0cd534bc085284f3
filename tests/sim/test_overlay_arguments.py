"""Whatever an overlay in virtual time is told, it is taken for what it says, or refused in words
that name the argument and before anything is done: what was there goes on as if nobody had asked.

Of the values that nobody should give each argument refuses all but those named here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pytest

import sim
from meteor import ClientConfig, KeywordSpace, NotConnected, Number, Word
from sim import overlay as overlay_module
from tests.meteor.hostile_values import check

SPACE: Final = KeywordSpace("plain", [Word("type"), Number("value", 0, 1000)])
NAN: Final = float("nan")
WHOLE: Final = {"one", "zero", "whole", "numpy's integer"}
TIMES: Final = {*WHOLE, "numpy's float", "numpy's short float", "fraction"}
ANY_WHOLE: Final = {*WHOLE, "minus one", "larger than a float", "smaller than a float"}
TAKEN: Final[dict[str, set[str]]] = {
    "peers": WHOLE,
    "space": set(),
    "seed": ANY_WHOLE,
    "latency": {"none"},
    "config": {"none"},
    "ids": {"none", "list of a number"},
    "kernel": {"none"},
    "network": {"none"},
    "codec": {"none"},
    "disk": {"none"},
    "clocks": {"none"},
    "moves": {"none"},
    "copies": {"one", "whole"},
    "copies_min": {"none"},
    "routing": {"none"},
    "policy": {"none"},
}


def made(**changed: Any) -> sim.Overlay:
    """An overlay of one peer, some of its arguments changed."""
    return sim.Overlay(**{"peers": 1, "space": SPACE, **changed})


def wrongly(overlay: sim.Overlay, method: str, *args: object, **options: object) -> Any:
    """What a method gives for arguments that its types forbid."""
    return getattr(overlay, method)(*args, **options)


def assert_as_before(overlay: sim.Overlay, peers: int) -> None:
    """Nobody came or went, and everything works."""
    assert len(overlay.living) == len(overlay.peers) == peers
    client = overlay.client(peer=-1)
    assert overlay.run(client.store("type=reading value=7", b"seven")).complete
    assert len(overlay.run(client.ring()).peers) == peers


# ---- the constructor -------------------------------------------------------------------------


@pytest.mark.parametrize("name", TAKEN)
def test_an_argument_that_says_nothing_is_refused(name: str) -> None:
    # So few identifiers end the attempt to make a ring of peers without number.
    others = {"ids": range(1, 9)} if name == "peers" else {}
    check(name, TAKEN[name], lambda value: made(**others, **{name: value}))


def test_every_argument_is_in_the_table() -> None:
    assert set(TAKEN) == set(inspect.signature(sim.Overlay).parameters)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"peers": "8"}, TypeError, "peers is a whole number, not '8'"),
        ({"peers": -3}, ValueError, "peers: -3 is below 0"),
        ({"space": None}, TypeError, "an overlay needs a meteor.KeywordSpace"),
        ({"ids": ["a"]}, TypeError, r"ids\[0\] is a whole number, not 'a'"),
        ({"ids": [1, 2.5]}, TypeError, r"ids\[1\] is a whole number, not 2.5"),
        ({"ids": [1, -1]}, ValueError, r"ids\[1\]: -1 is no identifier of 160 bits"),
        ({"ids": "ab"}, TypeError, "ids: give a list or tuple or range"),
        ({"latency": 0.01}, TypeError, "latency: give a UniformLatency or TailedLatency, not 0.01"),
        ({"codec": 1}, TypeError, r"codec: give a meteor.wire_codec\(\), or leave it out, not 1"),
        ({"config": {}}, TypeError, "config: give a ChordConfig, or leave it out, not {}"),
        ({"seed": NAN}, TypeError, "seed is a whole number, not nan"),
        ({"seed": 1 << 5000}, ValueError, "seed: 0x10+... has more than 4096 bits"),
        ({"seed": "1", "kernel": sim.Kernel(1)}, TypeError, "seed is a whole number, not '1'"),
        ({"peers": 0, "copies": 0}, ValueError, "copies: 0 is not between 1 and"),
    ],
)
def test_it_is_said_what_is_wrong(wrong: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        made(**wrong)


def test_numbers_of_numpy_are_the_same_numbers() -> None:
    plain = made(peers=2, seed=3, ids=[5, 9])
    numpys = made(peers=np.int8(2), seed=np.int64(3), ids=list(np.array([5, 9])))
    assert numpys.trace.digest() == plain.trace.digest()


def test_a_network_refuses_what_draws_no_times_and_writes_no_bytes() -> None:
    wrong: Any = 0.01
    with pytest.raises(TypeError, match=r"latency: .* not 0\.01"):
        sim.Network(sim.Kernel(1), latency=wrong)
    with pytest.raises(TypeError, match=r"codec: .* not 0\.01"):
        sim.Network(sim.Kernel(1), codec=wrong)


# ---- identifiers -----------------------------------------------------------------------------

COMES: Final[dict[str, Callable[[sim.Overlay, Any], Any]]] = {
    "add_peer": lambda overlay, peer_id: overlay.add_peer(peer_id),
    "restart": lambda overlay, peer_id: overlay.restart(overlay.peers[1], peer_id),
    "move": lambda overlay, peer_id: overlay.move(overlay.peers[0], peer_id),
}


@pytest.mark.parametrize("verb", COMES)
def test_what_is_no_identifier_is_refused_before_anybody_comes(verb: str) -> None:
    """Such a peer stayed among the living, and broke whatever ran later."""
    overlay = made(peers=2)
    overlay.peers[1].crash()
    before = list(overlay.peers)
    for wrong, error, said in (
        (-1, ValueError, "peer_id: -1 is no identifier of 160 bits"),
        (1 << 160, ValueError, "peer_id: 1461501637330902918203684832716283019655932542976 is no"),
        ("a", TypeError, "peer_id is a whole number, not 'a'"),
    ):
        with pytest.raises(error, match=said):
            overlay.run(COMES[verb](overlay, wrong))
    assert overlay.peers == before
    assert overlay.living == before[:1]
    overlay.run(overlay.restart(before[1]))
    assert_as_before(overlay, 2)


def test_whole_numbers_of_the_ring_are_identifiers() -> None:
    check("peer_id", {*WHOLE, "none"}, lambda id: (over := made()).run(over.add_peer(id)))
    overlay = made()
    there = overlay.run(overlay.add_peer((1 << 160) - 1))
    moved = overlay.run(wrongly(overlay, "move", there, np.int64(5)))
    assert type(moved.contact.id) is int
    assert_as_before(overlay, 2)


def test_who_fails_as_it_joins_is_not_among_the_living() -> None:
    """A bug, too: only errors of the overlay itself were heeded."""
    overlay = made(peers=2)

    async def fails(_: object) -> None:
        raise RuntimeError("a bug")

    def spoil(peer: sim.SimPeer) -> None:
        peer.core.start = fails  # type: ignore[method-assign,assignment]

    overlay.on_new = spoil
    with pytest.raises(RuntimeError, match="a bug"):
        overlay.run(overlay.add_peer())
    overlay.on_new = lambda _: None
    assert overlay.living == overlay.peers[:2]
    overlay.run(overlay.restart(overlay.peers[2]))
    assert_as_before(overlay, 3)


# ---- who is alive, and who is not ------------------------------------------------------------


def test_who_is_not_alive_neither_leaves_nor_moves() -> None:
    """A move started it again, and to leave said that all had been handed over."""
    overlay = made(peers=3)
    gone = overlay.peers[1]
    gone.crash()
    with pytest.raises(ValueError, match=r"leave: 10\.0\.0\.2:7400 is not alive; restart\(\) it"):
        overlay.run(gone.leave())
    with pytest.raises(ValueError, match=r"move: 10\.0\.0\.2:7400 is not alive; restart\(\) it"):
        overlay.run(overlay.move(gone, 5))
    assert len(overlay.living) == 2
    overlay.run(overlay.restart(gone))
    with pytest.raises(ValueError, match="move: a later incarnation of"):
        overlay.run(overlay.move(gone, 5))
    for verb in ("restart", "move"):
        with pytest.raises(TypeError, match=f"{verb}: give one of the overlay's peers, not 1"):
            overlay.run(wrongly(overlay, verb, 1, 5))
    assert_as_before(overlay, 3)


def test_who_crashes_as_it_is_about_to_go_elsewhere_does_not_come_back() -> None:
    overlay = made(peers=2)
    peer = overlay.peers[1]
    going = overlay.kernel.spawn(overlay._go(peer, 5))
    peer.crash()
    overlay.run(going)
    assert overlay.living == overlay.peers[:1]


def test_who_vanished_is_started_again_after_its_crash() -> None:
    overlay = made(peers=3)
    gone = overlay.peers[2]
    cut = overlay.faults.vanish(gone.contact)
    assert gone in overlay.living
    gone.crash()
    cut.heal()
    overlay.run(overlay.restart(gone))
    overlay.run_for(5.0)
    assert_as_before(overlay, 3)


# ---- clients ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"peer": 1.0}, TypeError, "peer is a whole number, not 1.0"),
        ({"peer": NAN}, TypeError, "peer is a whole number, not nan"),
        ({"peer": "a"}, TypeError, "peer is a whole number, not 'a'"),
        ({"peer": 2}, ValueError, "client: peer 2 of 2 living peers"),
        ({"peer": -3}, ValueError, "client: peer -3 of 2 living peers"),
        ({"config": 1}, TypeError, "config: give a ClientConfig, or leave it out, not 1"),
        ({"identity": "me"}, TypeError, "identity: give a meteor.Identity or ActingFor"),
        ({"first_version": "1"}, TypeError, "first_version is a whole number, not '1'"),
    ],
)
def test_a_client_that_cannot_be_leaves_nothing_behind(
    options: dict[str, Any], error: type[Exception], said: str
) -> None:
    """It kept its place on the network, and no other client came to be."""
    overlay = made(peers=2)
    for make in ("client", "new_client"):
        with pytest.raises(error, match=said):
            wrongly(overlay, make, **options)
    assert not overlay.clients
    assert_as_before(overlay, 2)


def test_a_client_that_fails_as_it_is_made_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    overlay = made(peers=2)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    with monkeypatch.context() as broken:
        broken.setattr(overlay_module, "Client", fails)
        with pytest.raises(RuntimeError, match="a bug"):
            overlay.client()
    assert_as_before(overlay, 2)


def test_a_client_that_finds_nobody_is_closed() -> None:
    overlay = made(peers=1)
    fallen = overlay.peers[0]
    fallen.crash()
    with pytest.raises(NotConnected):
        overlay.client()
    (client,) = overlay.clients.values()
    assert repr(client) == "<Client closed>"
    overlay.run(overlay.restart(fallen))
    assert_as_before(overlay, 1)


def test_a_client_of_right_arguments() -> None:
    overlay = made(peers=2)
    numpys: Any = np.int64(1)
    client = overlay.client(peer=numpys, config=ClientConfig(), first_version=numpys)
    assert client.peer_address == overlay.peers[1].address


# ---- how long to run -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["run", "run_for"])
def test_what_is_no_time_is_refused(method: str) -> None:
    """It never came to an end, or came to it at once and said nothing."""
    name = "until" if method == "run" else "seconds"
    check(name, TIMES, lambda value: wrongly(made(peers=0), method, **{name: value}))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (("run_for", -5), ValueError, "seconds: -5 is not from 0 and at most"),
        (("run_for", NAN), ValueError, "seconds: nan is not from 0 and at most"),
        (("run_for", "a"), TypeError, "seconds is a number, not 'a'"),
        (("run", 5), TypeError, "run: 5 is nothing to await"),
        (("run", sim.Kernel), TypeError, "run: <class .*> is nothing to await"),
    ],
)
def test_no_time_passes_where_it_is_not_said_until_when(
    call: tuple[str, object], error: type[Exception], said: str
) -> None:
    overlay = made(peers=2)
    now_s = overlay.kernel.now()
    with pytest.raises(error, match=said):
        wrongly(overlay, *call)
    assert overlay.kernel.now() == now_s
    assert_as_before(overlay, 2)


def test_something_to_do_and_a_time_are_not_both_given() -> None:
    """The time was ignored."""
    overlay = made(peers=1)
    work = overlay.add_peer()
    with pytest.raises(TypeError, match="or a time, not both"):
        wrongly(overlay, "run", work, until=60.0)
    overlay.run(work)
    assert_as_before(overlay, 2)


def test_a_time_is_the_same_of_every_kind() -> None:
    overlay = made(peers=0)
    wrongly(overlay, "run", until=np.float32(2))
    wrongly(overlay, "run_for", np.int64(3))
    assert overlay.kernel.now() == pytest.approx(5.0)
    assert type(overlay.kernel.now()) is float
