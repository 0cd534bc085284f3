"""The blocking side in a process: it ends without a word, hears Ctrl-C, and knows its own process.

Each program runs as a process of its own, with warnings as errors; what it says is what is judged.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Iterator

import pytest

import meteor
from tests.meteor.building import SPACE

pytestmark = [pytest.mark.sockets, pytest.mark.processes]

PRELUDE = """
import os, sys, threading
import meteor
client = meteor.sync.connect(sys.argv[1])
"""


@pytest.fixture(scope="module")
def peer() -> Iterator[meteor.sync.Peer]:
    with meteor.sync.Peer(space=SPACE) as peer:
        yield peer


def start(peer: meteor.sync.Peer, program: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error", "-c"]
    text = PRELUDE + textwrap.dedent(program)
    return subprocess.Popen(
        [*command, text, peer.address],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ran(peer: meteor.sync.Peer, program: str) -> str:
    """What a program printed that ended well and had nothing to complain of."""
    process = start(peer, program)
    said, complained = process.communicate(timeout=60)
    assert (process.returncode, complained) == (0, "")
    return said


PROGRAMS = {
    "a client": "client.store('type=one temperature=1')",
    "an interest": "interest = client.notify_data('type=two')",
    "a handler": "client.notify_data('type=three', handler=print)",
    "an answer that stands": "answer = client.retrieve('type=four', ttl=60); answer.all()",
    "a loop that was left": "client.store('type=five temperature=1')\n"
    "for match in client.retrieve('type=five'): break",
    "a thread that waits": "waited_for = client.notify_data('type=none')\n"
    "threading.Thread(target=list, args=(waited_for,), daemon=True).start()",
    "a peer": "peer = meteor.sync.Peer(space=client.space).start(); peer.store('type=six')",
    "a peer that joined": "joined = meteor.sync.Peer(join=[sys.argv[1]]).start()",
    "an overlay": "overlay = meteor.sync.LocalOverlay(3, space=client.space).__enter__()\n"
    "overlay.connect().store('type=seven')",
}


def test_a_program_ends_without_close_without_hanging_and_without_a_word(
    peer: meteor.sync.Peer,
) -> None:
    """With everything open at once, and by way of `sys.exit`."""
    ends = "print('end'); sys.exit(0)"
    assert ran(peer, "\n".join([*PROGRAMS.values(), ends])) == "end\n"


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_whatever_is_open_alone_at_the_end(peer: meteor.sync.Peer, program: str) -> None:
    assert ran(peer, program + "\nprint('end')") == "end\n"


@pytest.mark.parametrize(
    "waiting",
    [
        "list(client.notify_data('type=none'))",
        pytest.param("client.notify_data('type=none').recv()", marks=pytest.mark.long),
        pytest.param(
            "client.notify_interest('type=none temperature=*').wait_active()",
            marks=pytest.mark.long,
        ),
        pytest.param("next(iter(client.retrieve('type=none', ttl=60)))", marks=pytest.mark.long),
    ],
)
def test_ctrl_c_reaches_whoever_waits_and_the_client_goes_on(
    peer: meteor.sync.Peer, waiting: str
) -> None:
    process = start(
        peer,
        f"""
        try:
            print("waiting", flush=True)
            {waiting}
        except KeyboardInterrupt:
            print("interrupted", len(client.ring().peers))
        """,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    # It came just before what was made was asked, which Python says: on a busy machine the signal
    # is there as the coroutine is made, and no line of ours can be in between.
    if complained.count("RuntimeWarning:") == 1 and "never awaited" in complained:
        complained = ""
    assert (said, complained, process.returncode) == ("interrupted 1\n", "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_client_belongs_to_its_process(peer: meteor.sync.Peer) -> None:
    said = ran(
        peer,
        """
        interest = client.notify_data("type=forked")
        answer = client.retrieve("type=forked")
        child = os.fork()
        if child == 0:
            store = lambda: client.store("type=forked")
            for use in (store, interest.recv, answer.all, client.ring):
                try:
                    use()
                except meteor.Closed as error:
                    assert "before the fork" in str(error)
                    print("closed", flush=True)
            client.close()
            with meteor.sync.connect(sys.argv[1]) as own:
                own.store("type=forked temperature=7", "of the child")
            os._exit(0)
        os.waitpid(child, 0)
        print(interest.recv(10).text)
        print(answer.first().text)
        """,
    )
    assert said == "closed\n" * 4 + "of the child\n" * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_what_is_queued_is_the_parents_alone(peer: meteor.sync.Peer) -> None:
    said = ran(
        peer,
        """
        interest = client.notify_data("type=queued")
        client.store("type=queued temperature=1", "one")
        client.store("type=queued temperature=2", "two")
        answer = client.retrieve("type=queued")
        matches = iter(answer)
        next(matches)
        while not (len(interest._mailbox.items) == 2 and answer.complete):
            client.ring()
        child = os.fork()
        if child == 0:
            for use in (interest.recv, lambda: next(interest), lambda: next(matches)):
                try:
                    print("taken", use(), flush=True)
                except meteor.Closed as error:
                    assert "before the fork" in str(error)
                    print("closed", flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        print(interest.recv(10).text, next(interest).text, len(list(matches)))
        """,
    )
    assert said == "closed\n" * 3 + "one two 1\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_an_asynchronous_client_belongs_to_its_process_too(peer: meteor.sync.Peer) -> None:
    said = ran(
        peer,
        """
        import asyncio

        async def child_of(client, interest, answer):
            for use in (client.store("type=alone"), interest.recv(), answer.all(), client.ring()):
                try:
                    await use
                except meteor.Closed as error:
                    assert "before the fork" in str(error), error
                    print("closed", flush=True)

        async def main():
            async with meteor.connect(sys.argv[1]) as client:
                interest = await client.notify_data("type=alone")
                answer = client.retrieve("type=alone")
                await answer.all()
                another = client.retrieve("type=alone")
                child = os.fork()
                if child == 0:
                    await child_of(client, interest, another)
                    os._exit(0)
                os.waitpid(child, 0)
                await another.all()
                await client.store("type=alone temperature=1")
                await interest.recv()
                print("goes on")

        asyncio.run(main())
        """,
    )
    assert said == "closed\n" * 4 + "goes on\n"


def test_a_client_that_is_forgotten_is_closed(peer: meteor.sync.Peer) -> None:
    client = meteor.sync.connect(peer.address)
    interest = client.notify_data("type=t")
    seen, loops = weakref.ref(client), meteor_threads()
    del client
    gc.collect()
    assert seen() is not None, "its interest lives"
    del interest
    gc.collect()
    assert seen() is None
    assert len(meteor_threads()) < len(loops)


def meteor_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "meteor-sync"]


def test_no_thread_is_left_of_what_was_closed(peer: meteor.sync.Peer) -> None:
    before = set(threading.enumerate())
    with meteor.sync.connect(peer.address) as client:
        client.callbacks.on_error = print
        with client.notify_data("type=t", handler=print):
            client.store("type=t temperature=1")
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert set(threading.enumerate()) <= before
