"""SPEC section 5, sentence by sentence: what a user does wrong, and what he is told."""

from __future__ import annotations

import asyncio
import pickle
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import arms
import chord
import meteor
import squid
from meteor import KeywordSpace, Number, Word
from tests.meteor.building import SPACE

OTHER = KeywordSpace("building", [Word("type"), Number("temperature", -40, 150)])


async def refusal(of: Callable[[], Any]) -> meteor.MeteorError:
    """What calling, and then awaiting, raises."""
    with pytest.raises(meteor.MeteorError) as raised:
        await _carried_out(of)
    return raised.value


async def _carried_out(of: Callable[[], Any]) -> None:
    await of()


async def test_every_message_says_the_operation_the_value_the_limit_and_what_to_do() -> None:
    many = "type=a " + " ".join(f"extra{n}=1" for n in range(8))
    async with meteor.LocalOverlay(peers=2, space=SPACE) as overlay:
        client = await overlay.connect()
        store = client.store
        for of, said in [
            (lambda: store("temperature=warm"), ["temperature", "'warm'", "finite number", "give"]),
            (lambda: store('temperature="5"'), ["temperature", "'5'", "quoted is a word", "give"]),
            (lambda: store(many), ["max_attributes", "9", "8", "give less"]),
            (lambda: store("type=a", b"x" * 1_000_001), ["data bytes", "1000001", "give less"]),
            (lambda: store("type=a", ttl=-1), ["ttl", "-1", "2592000", "leave it out"]),
            (lambda: store("type=a", ttl="soon"), ["ttl", "'soon'", "30 days"]),  # type: ignore[arg-type]
            (lambda: store("type=a", timeout=0), ["timeout", "0", "86400", "give seconds"]),
            (lambda: store("type=a", timeout=None), ["timeout", "None", "leave it out"]),  # type: ignore[arg-type]
            (lambda: client.post("type=a", "fetch"), ["'fetch'", "known are store"]),
            (lambda: client.retrieve("type=*"), ["retrieve of (type=*)", "everywhere=True"]),
            (lambda: client.retrieve("type=a,b"), ["comma", "quote the value", "^"]),
            (lambda: client.cancel("abc"), ["'abc'", "receipt.id"]),
            (lambda: store("tempreture=3"), ["tempreture", "did you mean 'temperature'"]),
        ]:
            error = await refusal(of)
            assert [part for part in said if part not in str(error)] == [], str(error)


async def test_what_is_closed_says_which_operation_and_what_to_do() -> None:
    peer = meteor.Peer(space=SPACE)
    for of in (lambda: peer.store("type=a"), lambda: peer.retrieve("type=a").all()):
        assert "has not started: enter it" in str(await refusal(of))
    async with peer:
        client = await meteor.connect(peer.address)
        await client.close()
        for of, operation in [
            (lambda: client.store("type=a"), "store of (type=a)"),
            (lambda: client.retrieve("type=a").all(), "retrieve of (type=a)"),
            (lambda: client.notify_data("type=a").__aenter__(), "notify_data of (type=a)"),
        ]:
            error = await refusal(of)
            assert type(error) is meteor.Closed
            assert operation in str(error)
            assert "start anew" in str(error) or "connect again" in str(error)
        with pytest.raises(meteor.Closed, match="connect again"):
            _ = client.peer_address
    assert "start anew" in str(await refusal(lambda: peer.store("type=a")))
    with pytest.raises(meteor.Closed, match="make a new one"):
        await peer.start()


@pytest.mark.parametrize(
    "options",
    [
        {"listen": "127.0.0.1"},
        {"listen": "127.0.0.1:http"},
        {"listen": "127.0.0.1:70000"},
        {"listen": "0.0.0.0:0"},
        {"listen": "[::]:0"},
        {"advertise": "here"},
        {"join": ["127.0.0.1"]},
        {"join": "127.0.0.1:7400"},
        {"id": -1},
        {"id": 1 << 160},
    ],
    ids=str,
)
def test_a_peer_that_cannot_be_is_refused_when_it_is_made(options: dict[str, Any]) -> None:
    (name,) = options
    with pytest.raises((ValueError, TypeError), match=f"{name}: "):
        meteor.Peer(space=SPACE, **options)


def test_a_wildcard_is_legal_where_the_peer_says_how_it_is_reached() -> None:
    meteor.Peer(space=SPACE, listen="0.0.0.0:0", advertise="127.0.0.1:7400", insecure=True)


@pytest.mark.parametrize("address", ["127.0.0.1", ":1", "host:", "host:99999", ["127.0.0.1:1"]])
def test_an_address_that_is_none_is_refused_at_once(address: Any) -> None:
    with pytest.raises(ValueError, match="host:port"):
        meteor.connect(address)


@pytest.mark.parametrize("profile", [None, b"type=a", ["type"], 5])
async def test_what_is_no_profile_at_all_is_a_type_error_that_says_so(profile: Any) -> None:
    async with meteor.Peer(space=SPACE) as peer:
        with pytest.raises(TypeError, match=r"a profile is text, a meteor\.Profile or a mapping"):
            peer.store(profile)
        with pytest.raises(TypeError, match="context is a mapping"):
            peer.store("type=a", context=["a"])  # type: ignore[arg-type]
        with pytest.raises(meteor.ProfileError, match="no id"):
            peer.store("type=a", id=5)  # type: ignore[arg-type]
        with pytest.raises(meteor.ProfileError, match="no full id"):
            peer.renew(5)  # type: ignore[arg-type]


async def test_a_data_dir_that_cannot_be_used_is_a_meteor_error(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("not a directory")
    error = await refusal(meteor.Peer(space=SPACE, data_dir=file).start)
    assert isinstance(error, meteor.JournalFailed)
    assert str(file) in str(error)
    assert "give another" in str(error)


async def test_data_dir_locked_carries_the_path(tmp_path: Path) -> None:
    async with meteor.Peer(space=SPACE, data_dir=tmp_path):
        error = await refusal(meteor.Peer(space=SPACE, data_dir=tmp_path).start)
        assert isinstance(error, meteor.DataDirLocked)
        assert error.path == str(tmp_path)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.path) == (type(error), str(error), error.path)


async def test_a_space_mismatch_is_told_from_where_it_is_read() -> None:
    """"here" is the reader's space, "there" the ring's."""
    async with meteor.Peer(space=SPACE) as peer:
        for of in (
            lambda: meteor.connect(peer.address, space=OTHER),
            meteor.Peer(space=OTHER, join=[peer.address]).start,
        ):
            error = await refusal(of)
            assert type(error) is meteor.SpaceMismatch
            assert "high is 150 here, 125 there" in str(error)
            assert "'humidity' is only there" in str(error)
            assert "take the ring's" in str(error)


async def test_a_data_dir_of_another_space_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    async with meteor.Peer(space=SPACE, data_dir=tmp_path) as peer:
        await peer.store("type=probe temperature=120", b"kept")
    error = await refusal(meteor.Peer(space=OTHER, data_dir=tmp_path).start)
    assert type(error) is meteor.SpaceMismatch
    for part in ("150 here", "125 there", str(tmp_path)):
        assert part in str(error)
    async with meteor.Peer(data_dir=tmp_path) as peer:
        assert peer.space == SPACE
        assert [match.data for match in await peer.retrieve("type=probe")] == [b"kept"]


async def test_a_peer_in_an_application_takes_no_signals() -> None:
    before = [signal.getsignal(one) for one in signal.valid_signals()]
    async with meteor.Peer(space=SPACE) as peer, meteor.connect(peer.address) as client:
        await client.store("type=probe temperature=1")
        assert [signal.getsignal(one) for one in signal.valid_signals()] == before


def test_every_public_error_has_the_one_root_and_pickles() -> None:
    made: dict[type[Exception], tuple[Any, ...]] = {
        meteor.SelectorError: ("a,b", 1, "a comma", "write a blank"),
        meteor.TypeMismatch: ("temperature", "warm", "a number"),
        meteor.LimitExceeded: ("ttl", 1e9, 2592000),
        meteor.UnknownAction: ("fetch", ("store",)),
        arms.OverBudget: (8000,),
        chord.RemoteFault: ("Refused", "no", ("x",)),
        chord.Fault: ("Refused", "no", ("x",)),
    }
    public = {
        one
        for package in (meteor, arms, squid, chord)
        for one in (getattr(package, name) for name in package.__all__)
        if isinstance(one, type) and issubclass(one, Exception)
    }
    assert len(public) > 25
    for kind in sorted(public, key=lambda one: one.__name__):
        assert issubclass(kind, meteor.MeteorError), kind
        error = kind(*made.get(kind, ("store of (type=a): no; do something else",)))
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error))


@pytest.mark.processes
def test_using_a_peer_after_fork_raises() -> None:
    """Every verb, not only what the peer is asked of itself."""
    program = textwrap.dedent(
        """
        import asyncio, os
        import meteor
        from tests.meteor.building import SPACE

        async def main():
            async with meteor.Peer(space=SPACE) as peer:
                child = os.fork()
                if child == 0:
                    refused = 0
                    for verb in (peer.store, peer.retrieve, peer.notify_data, peer.delete_data):
                        try:
                            verb("type=a")
                        except meteor.Closed as error:
                            refused += "fork" in str(error)
                    os._exit(refused)
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
            print("done")

        asyncio.run(main())
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


async def test_closed_overlays_leave_no_task_behind() -> None:
    before = asyncio.all_tasks()
    async with meteor.LocalOverlay(peers=3, space=SPACE) as overlay:
        client = await overlay.connect()
        await client.notify_data("type=a")
    await asyncio.sleep(0)
    assert asyncio.all_tasks() - before == set()
