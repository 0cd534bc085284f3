"""Errors of SPEC section 5: their second bases, their pickling, their way over the wire."""

from __future__ import annotations

import pickle

import pytest

import meteor
from chord import Fault, RemoteFault
from meteor.errors import from_fault, to_fault
from meteor.lifetimes import checked_ttl_s

RECEIPT = meteor.Receipt("a.b", False, ((1, 2),))
EXAMPLES: list[meteor.MeteorError] = [
    meteor.SelectorError("a,b", 1, "a comma joins nothing", "write a blank"),
    meteor.ProfileError("not XML"),
    meteor.TypeMismatch("temperature", "warm", "a number"),
    meteor.LimitExceeded("ttl", 1e9, 2592000),
    meteor.UnknownAction("fetch", ("store", "retrieve")),
    meteor.SpaceMismatch("bits are 16 here and 20 there"),
    meteor.VersionMismatch("wire version 2", 1, 2),
    meteor.Incomplete("half", (), RECEIPT, ((1, 2), (3, 1 << 150))),
    meteor.Timeout("no answer"),
    meteor.NotConnected("nobody", ["a:1: refused"]),
    meteor.JoinFailed("nobody", ["a:1: refused"]),
    meteor.Refused("not yours", "owner"),
    meteor.Busy("later"),
    meteor.SlowConsumer("too slow", 1000),
    meteor.DataDirLocked("locked", "./data"),
    meteor.AddressInUse("in use", "127.0.0.1:1"),
    meteor.CertificateError("no PEM form", "./a.pem"),
    meteor.Closed("closed"),
]
SECOND_BASES = {
    meteor.SelectorError: ValueError,
    meteor.ProfileError: ValueError,
    meteor.TypeMismatch: ValueError,
    meteor.LimitExceeded: ValueError,
    meteor.Timeout: TimeoutError,
    meteor.NotConnected: ConnectionError,
    meteor.JoinFailed: ConnectionError,
    meteor.Refused: PermissionError,
    meteor.DataDirLocked: OSError,
    meteor.AddressInUse: OSError,
    meteor.CertificateError: ValueError,
}


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_every_error_pickles_with_its_fields_and_text(error: meteor.MeteorError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))
    assert isinstance(error, meteor.MeteorError)


@pytest.mark.parametrize(("kind", "base"), SECOND_BASES.items())
def test_errors_are_also_the_builtin_that_people_catch(
    kind: type[meteor.MeteorError], base: type[Exception]
) -> None:
    assert issubclass(kind, base)
    assert issubclass(kind, meteor.MeteorError)


@pytest.mark.parametrize(
    "error",
    [one for one in EXAMPLES if not isinstance(one, meteor.Incomplete | OSError)]
    + [meteor.Refused("not yours", "owner"), meteor.Timeout("no answer")],
    ids=lambda error: type(error).__name__,
)
def test_a_refusal_comes_out_as_the_same_error(error: meteor.MeteorError) -> None:
    fault = to_fault(error)
    again = from_fault(RemoteFault(fault.kind, fault.message, fault.details))
    if isinstance(error, meteor.SlowConsumer | meteor.CertificateError):  # of one's own side
        assert type(again) is meteor.MeteorError
        return
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


@pytest.mark.parametrize(
    "fault",
    [
        RemoteFault("NoSuchError", "what?"),
        RemoteFault("SystemExit", "0"),
        RemoteFault("LimitExceeded", "too long"),
        RemoteFault("LimitExceeded", "too long", ("{",)),
        RemoteFault("Refused", "no", ('[["no"], {"rule": ["a"], "__class__": "int"}]',)),
        RemoteFault("SelectorError", "no", ('["x", 3]',)),
        RemoteFault("SelectorError", "no", ("[[1, 2, 3, 4], {}]",)),
        RemoteFault("Refused", "no", ('{"a": 1}',)),
        RemoteFault("Refused", "no", ('[{"a": 1}, []]',)),
        RemoteFault("TypeMismatch", "no", ("[[[1], [2], [3]], [4]]",)),
    ],
)
def test_a_damaged_or_hostile_fault_is_still_an_error_with_a_text(fault: RemoteFault) -> None:
    error = from_fault(fault)
    assert isinstance(error, meteor.MeteorError)
    assert isinstance(str(error), str)


def test_what_json_cannot_say_still_travels_as_text() -> None:
    error = meteor.LimitExceeded("value", object(), b"x")
    fault = to_fault(error)
    assert isinstance(fault, Fault)
    assert from_fault(RemoteFault(fault.kind, fault.message, fault.details)).args


def test_lifetimes_keep_their_class_over_the_wire() -> None:
    with pytest.raises(meteor.LimitExceeded) as caught:
        checked_ttl_s("store", -1)
    fault = to_fault(caught.value)
    assert fault.kind == "LimitExceeded"
    assert "30 days" in fault.message
    again = from_fault(RemoteFault(fault.kind, fault.message, fault.details))
    assert isinstance(again, meteor.LimitExceeded)
    assert again.name == "ttl"
