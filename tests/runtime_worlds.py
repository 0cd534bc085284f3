"""The worlds in which the runtime contract is checked: virtual time, memory, WebSockets in the
clear and under TLS; and the peers that live there."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from chord import MESSAGES, CallError, Contact, Deferred, Fault, Runtime, Unhurried
from meteor.links.asyncio_runtime import AsyncioRuntime
from meteor.links.asyncio_task import failing, going_on
from meteor.links.transport import MemoryHub, MemoryTransport, Transport
from meteor.links.websocket_transport import WebSocketTransport
from meteor.wire.codec import Codec
from sim import Kernel, Network, SimRuntime
from tests.certificates import tls


@dataclass(frozen=True, slots=True)
class Ask:
    """A request; what is done with it depends on `what`."""

    what: str
    number: int = 0
    data: bytes = b""


@dataclass(frozen=True, slots=True)
class Told:
    """A reply or a one-way message."""

    number: int
    text: str = ""


CODEC = Codec((Ask, Told, *MESSAGES))

Scenario = Callable[[], Awaitable[None]]


class World(Protocol):
    """Makes peers and clients and runs conversations among them."""

    failures: list[BaseException]

    def run(self, scenario: Scenario) -> None: ...
    async def peer(self, id: int, address: str = "") -> Any: ...
    async def client(self, id: int) -> Any: ...
    async def crash(self, runtime: Runtime) -> None: ...
    def nowhere(self) -> Contact: ...


class SimWorld:
    """Virtual time; messages are encoded and decoded on their way."""

    def __init__(self, seed: int = 1) -> None:
        self.failures: list[BaseException] = []
        self.kernel = Kernel(seed)
        self.network = Network(self.kernel, codec=CODEC)

    def run(self, scenario: Scenario) -> None:
        async def conversation() -> None:
            await scenario()

        task = self.kernel.spawn(conversation())
        while not task.done():
            try:
                self.kernel.run_until(task)
            except Exception as error:
                if task.done():
                    raise
                self.failures.append(error)

    async def peer(self, id: int, address: str = "") -> SimRuntime:
        return SimRuntime(self.kernel, self.network, Contact(id, address or f"10.0.0.{id}:1"))

    async def client(self, id: int) -> SimRuntime:
        return SimRuntime(self.kernel, self.network, Contact(id, ""))

    async def crash(self, runtime: Runtime) -> None:
        self.network.crash(runtime.contact)

    def nowhere(self) -> Contact:
        return Contact(404, "10.0.0.255:1")


class LoopWorld:
    """An event loop; leaves no task, no warning and no complaint of the loop behind."""

    def __init__(self) -> None:
        self.failures: list[BaseException] = []
        self.runtimes: list[AsyncioRuntime] = []
        self.complaints: list[dict[str, Any]] = []

    def run(self, scenario: Scenario) -> None:
        async def conversation() -> None:
            loop = asyncio.get_running_loop()
            loop.set_exception_handler(lambda _, context: self.complaints.append(context))
            try:
                async with asyncio.timeout(20):
                    await scenario()
            finally:
                for runtime in self.runtimes:
                    await runtime.aclose()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            own = asyncio.current_task()
            assert [task for task in asyncio.all_tasks() if task is not own] == []

        asyncio.run(conversation())
        assert self.complaints == []

    async def peer(self, id: int, address: str = "") -> AsyncioRuntime:
        transport = self.transport(address)
        return self._made(Contact(id, await transport.listen()), transport)

    async def client(self, id: int) -> AsyncioRuntime:
        return self._made(Contact(id, ""), self.transport("", listens=False))

    async def crash(self, runtime: Runtime) -> None:
        assert isinstance(runtime, AsyncioRuntime)
        await runtime.aclose()

    def _made(self, contact: Contact, transport: Transport) -> AsyncioRuntime:
        runtime = AsyncioRuntime(
            contact, transport, seed=1, codec=CODEC, on_failure=self.failures.append
        )
        self.runtimes.append(runtime)
        return runtime

    def transport(self, address: str, *, listens: bool = True) -> Transport:
        raise AssertionError("a world has a transport")

    def nowhere(self) -> Contact:
        return Contact(404, "127.0.0.1:1")


class MemoryWorld(LoopWorld):
    """An event loop and the memory transport."""

    def __init__(self) -> None:
        super().__init__()
        self.hub = MemoryHub()

    def transport(self, address: str, *, listens: bool = True) -> Transport:
        return MemoryTransport(self.hub, address)


class EagerWorld(MemoryWorld):
    """A loop to which the application gave a task factory that steps what it makes at once."""

    def run(self, scenario: Scenario) -> None:
        async def eagerly() -> None:
            asyncio.get_running_loop().set_task_factory(_eager)
            await scenario()

        super().run(eagerly)


def _eager(loop: asyncio.AbstractEventLoop, conversation: Any, **_: object) -> asyncio.Task[Any]:
    """As `asyncio.eager_task_factory` of Python 3.12, for 3.11 too."""
    try:
        waits_for = conversation.send(None)
    except StopIteration as ended:
        return asyncio.Task(asyncio.sleep(0, ended.value), loop=loop)
    except BaseException as error:
        return asyncio.Task(failing(error), loop=loop)
    return asyncio.Task(_outcome(going_on(conversation, waits_for)), loop=loop)


async def _outcome(waiting: Awaitable[Any]) -> Any:
    return await waiting


class WebSocketWorld(LoopWorld):
    """An event loop and real sockets."""

    def transport(self, address: str, *, listens: bool = True) -> Transport:
        return WebSocketTransport((address or "127.0.0.1:0") if listens else "")


class TlsWorld(LoopWorld):
    """An event loop, real sockets, mutual TLS."""

    def transport(self, address: str, *, listens: bool = True) -> Transport:
        return WebSocketTransport(
            (address or "127.0.0.1:0") if listens else "", tls=tls("127.0.0.1")
        )


WORLDS = {
    "sim": SimWorld,
    "memory": MemoryWorld,
    "eager": EagerWorld,
    "websocket": WebSocketWorld,
    "tls": TlsWorld,
}
PARAMETERS = [
    pytest.param(name, marks=pytest.mark.sockets if name in ("websocket", "tls") else ())
    for name in WORLDS
]


class Peer:
    """A runtime with a handler that does what an `Ask` says, and writes down what arrives."""

    def __init__(self, runtime: Any) -> None:
        self.runtime = runtime
        self.contact: Contact = runtime.contact
        self.heard: list[tuple[Contact, object]] = []
        self.closed: list[Contact] = []
        runtime.serve(self.handle, self.link_closed)

    def handle(self, sender: Contact, message: object, remaining_s: float) -> object:
        self.heard.append((sender, message))
        self.runtime.deliver("heard", message)
        if not isinstance(message, Ask):
            return None
        answers: dict[str, Callable[[], object]] = {
            "echo": lambda: Told(message.number, message.what),
            "none": lambda: None,
            "remaining": lambda: Told(int(remaining_s * 1000)),
            "late": lambda: Told(int(self.runtime.request_late_s() * 1000)),
            "later": lambda: Deferred(self.later(message)),
            "never": lambda: Deferred(self.never()),
            "slow": lambda: Deferred(self.slow(message)),
            "when told": lambda: Deferred(self.when_told(message)),
            "refuse": lambda: self.refuse("Refused"),
            "refuse later": lambda: Deferred(self.refuse_later()),
            "bug": lambda: 1 // 0,
            "bug later": lambda: Deferred(self.bug_later()),
            "unhurried": lambda: Unhurried(Told(message.number, message.what)),
            "pages": lambda: self.pages(sender, message),
        }
        return answers[message.what]()

    def link_closed(self, contact: Contact) -> None:
        self.closed.append(contact)
        self.runtime.deliver("closed", contact)

    async def later(self, message: Ask) -> Told:
        await self.runtime.sleep(0.001)
        return Told(message.number, "later")

    async def slow(self, message: Ask) -> Told:
        await self.runtime.sleep(0.05)
        return Told(message.number, "slow")

    async def when_told(self, message: Ask) -> Told:
        await self.runtime.expect("tell", None)
        return Told(message.number, "when told")

    async def never(self) -> None:
        await self.runtime.expect("never", None)

    def refuse(self, kind: str) -> None:
        raise Fault(kind, "not today", ("rule", "7"))

    async def refuse_later(self) -> None:
        await self.runtime.sleep(0.001)
        self.refuse("RefusedLater")

    async def bug_later(self) -> None:
        await self.runtime.sleep(0.001)
        raise ZeroDivisionError

    def pages(self, sender: Contact, message: Ask) -> Told:
        for number in range(message.number):
            self.runtime.send(sender, Told(number, "page"))
        return Told(message.number, "end")

    async def hear(self, count: int) -> list[object]:
        """Wait until that many messages have arrived."""
        while len(self.heard) < count:
            await self.runtime.expect("heard", 5.0)
        return [message for _, message in self.heard]


async def two(world: World) -> tuple[Peer, Peer]:
    return Peer(await world.peer(1)), Peer(await world.peer(2))


async def ended(peer: Peer, *tasks: Any) -> None:
    """Wait until they have ended, however long the loop is held up: a time alone does not show
    it, as a loop that was held up finds what was due before and after in one turn."""
    for _ in range(5000):
        if all(task.done() for task in tasks):
            return
        await peer.runtime.sleep(0.001)
    raise AssertionError("not ended after 5,000 turns")


async def outcome_of(peer: Peer, contact: Contact, request: object, timeout_s: float = 5.0) -> Any:
    try:
        return await peer.runtime.call(contact, request, timeout_s)
    except CallError as error:
        return error
