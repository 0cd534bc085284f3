"""What a peer, a client and an overlay are told as they are made: of another kind than an option
has, it is refused there, in words that name the option, and nothing is opened."""

from __future__ import annotations

from typing import Any, Final

import pytest

import meteor
from tests.meteor.building import SPACE
from tests.meteor.hostile_values import check

TEXTS: Final = {
    "no text", "text", "half a character", "two lines", "long text", "member", "numpy's text",
}  # fmt: skip
PATHS: Final = TEXTS - {"no text"}
"""Empty text is the directory that one happens to be in."""
TRUTHS: Final = {"true", "numpy's truth"}
ALL_NONE: Final = {"none"}
OF_A_PEER: Final[dict[str, set[str]]] = {
    "space": ALL_NONE,
    "listen": set(),
    "join": {"list"},
    "data_dir": PATHS | {"none"},
    "advertise": ALL_NONE,
    "found_if_alone": TRUTHS,
    "id": {"none", "zero", "one", "whole", "numpy's integer"},
    "config": ALL_NONE,
    "seed": {
        "none", "zero", "one", "minus one", "whole", "numpy's integer", "larger than a float",
        "smaller than a float", "more digits than Python writes",
    },
    "moves": ALL_NONE,
    "copies": {"one", "whole"},
    "copies_min": {"none"},
    "preset": ALL_NONE,
    "tls": ALL_NONE,
    "transport": ALL_NONE,
    "insecure": TRUTHS,
    "rest": ALL_NONE,
    "routing": ALL_NONE,
    "event_log": PATHS | {"none"},
    "identity": ALL_NONE,
    "policy": PATHS | {"none"},
}  # fmt: skip
OF_AN_OVERLAY: Final[dict[str, set[str]]] = {
    "peers": {
        "one", "whole", "numpy's integer", "larger than a float", "more digits than Python writes",
    },
    "space": set(),
    "transport": set(),
    "ids": {"none", "list of a number"},
    "config": ALL_NONE,
    "seed": OF_A_PEER["seed"] - {"none"},
    "copies": OF_A_PEER["copies"],
    "copies_min": OF_A_PEER["copies_min"],
    "policy": PATHS | {"none"},
}  # fmt: skip
OF_A_CLIENT: Final = ("space", "config", "tls", "identity")


@pytest.mark.parametrize("name", OF_A_PEER)
@pytest.mark.parametrize("make", [meteor.Peer, meteor.sync.Peer], ids=["awaited", "blocking"])
def test_a_peer_refuses_what_is_no_option(name: str, make: Any) -> None:
    check(name, OF_A_PEER[name], lambda value: make(**{"space": SPACE, name: value}))


@pytest.mark.parametrize("name", OF_AN_OVERLAY)
def test_an_overlay_refuses_what_is_no_option(name: str) -> None:
    options: dict[str, Any] = {"peers": 1, "space": SPACE}

    def make(value: Any) -> None:
        meteor.LocalOverlay(**{**options, name: value})

    if name == "peers":
        del options["peers"]
    check(name, OF_AN_OVERLAY[name], make)


@pytest.mark.parametrize("name", OF_A_CLIENT)
def test_a_client_refuses_what_is_no_option(name: str) -> None:
    check(name, {"none"}, lambda value: meteor.connect("127.0.0.1:1", **{name: value}))


def test_whom_a_client_of_an_overlay_is_linked_to_is_a_number() -> None:
    with meteor.sync.LocalOverlay(peers=1, space=SPACE) as overlay:
        for wrong in ("0", None, True, 0.5):
            with pytest.raises(TypeError, match="peer is a whole number"):
                overlay.connect(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="identity: give"):
            overlay.connect(identity="me")  # type: ignore[arg-type]


def test_clear_text_is_allowed_by_nothing_but_the_truth() -> None:
    with pytest.raises(TypeError, match="insecure is True or False, not 'false'"):
        meteor.Peer(space=SPACE, listen="0.0.0.0:0", advertise="h:1", insecure="false")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["ca", "cert", "key", "client_certificates"])
def test_tls_refuses_what_is_no_file_and_no_truth(name: str) -> None:
    """`client_certificates="no"` asked for them."""
    files = {"ca": "ca.pem", "cert": "cert.pem", "key": "key.pem"}
    taken = TRUTHS if name == "client_certificates" else PATHS
    check(name, taken, lambda value: meteor.TLS(**{**files, name: value}))


@pytest.mark.parametrize("name", ["data_dir", "event_log", "policy"])
def test_a_path_that_no_file_can_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        meteor.Peer(space=SPACE, **{name: "a\0b"})


@pytest.mark.parametrize("name", ["on_disconnected", "on_reconnected", "on_error"])
@pytest.mark.parametrize(
    "make",
    [
        lambda **given: meteor.connect("127.0.0.1:1", **given),
        lambda **given: meteor.sync.connect("127.0.0.1:1", timeout=0.01, **given),
        meteor.Callbacks,
    ],
    ids=["awaited", "blocking", "callbacks"],
)
def test_what_is_no_function_is_no_callback(name: str, make: Any) -> None:
    """What it was to be told of was in the log as an error of its own, and nowhere else."""
    with pytest.raises(TypeError, match=f"{name}: 5 is no function"):
        make(**{name: 5})
