"""An event loop in a thread of its own, and blocking calls into it.

Law of this file: everything asyncio happens in the loop's thread; whoever calls waits, and Ctrl-C
reaches him.  The thread is a daemon and is stopped at the interpreter's exit, so that a program
that forgets to close ends at once and without a word.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, Final, ParamSpec, TypeVar

from meteor.errors import Closed
from meteor.links.asyncio_loop import fastest_loop

ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")

STOP_S: Final = 2.0
"""How long stopping waits for sockets to be released; then the process ends without that."""


class LoopThread:
    """A private event loop; started with the first call."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._starting = threading.RLock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._stopping = asyncio.Event()
        self._is_stopped = False
        self._ending = threading.Lock()  # taken for good by whoever stops it
        self._under_way: set[Future[Any]] = set()

    def wait(
        self,
        function: Callable[ParametersT, Awaitable[ResultT]],
        *args: ParametersT.args,
        **kwargs: ParametersT.kwargs,
    ) -> ResultT:
        """Call `function` in the loop, await what it gives, and return that.

        An exception in the waiting thread, like that of Ctrl-C, cancels it.  Raises `Closed` after
        `stop` and in a child process, `RuntimeError` in the loop's own thread."""

        async def conversation() -> ResultT:
            return await function(*args, **kwargs)

        return result_of(self.submit(conversation()))

    def call(
        self,
        function: Callable[ParametersT, ResultT],
        *args: ParametersT.args,
        **kwargs: ParametersT.kwargs,
    ) -> ResultT:
        """Call `function` in the loop; raises as `wait`."""

        async def conversation() -> ResultT:
            return function(*args, **kwargs)

        return result_of(self.submit(conversation()))

    def submit(self, conversation: Coroutine[Any, Any, ResultT]) -> Future[ResultT]:
        """Begin a conversation in the loop; raises as `wait`."""
        try:
            loop = self._running()
        except BaseException:
            conversation.close()
            raise
        try:
            future = asyncio.run_coroutine_threadsafe(conversation, loop)
        except RuntimeError:  # the loop ended since it was asked for
            conversation.close()
            self.check()
            raise
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        if loop.is_closed():  # it ended without taking this step
            future.cancel()
        return future

    def post(self, function: Callable[[], object]) -> None:
        """Call `function` in the loop some time soon, if it still runs; never waits or raises."""
        if self._loop is not None and os.getpid() == self._process:
            with suppress(RuntimeError):  # the loop is closed: there is nothing left to do it for
                self._loop.call_soon_threadsafe(function)

    @property
    def is_alive(self) -> bool:
        """Whether it runs, in this process."""
        ours = os.getpid() == self._process
        return ours and self._thread is not None and not self._is_stopped

    @property
    def is_current(self) -> bool:
        """Whether this is the loop's own thread."""
        return threading.current_thread() is self._thread

    def stop(self, farewell: Callable[[], Awaitable[object]] | None = None) -> None:
        """End the loop after the `farewell`; harmless when repeated, from any thread and in a
        child process.  Waits for it a moment, but not in the loop's own thread."""
        if os.getpid() != self._process or not self._ending.acquire(blocking=False):
            return
        self._is_stopped = True
        with self._starting:  # what is begun just now can be ended as soon as it is there
            loop, thread = self._loop, self._thread
        if loop is None or thread is None:  # never begun: nor will it be
            return
        asyncio.run_coroutine_threadsafe(self._end(farewell), loop)
        if not self.is_current:
            thread.join(STOP_S)

    def check_process(self) -> None:
        """Raises `Closed` in a child process."""
        if os.getpid() != self._process:
            raise Closed("this client or peer is of the process before the fork; make one here")

    def check(self) -> None:
        """Raises `Closed` after `stop` and in a child process, `RuntimeError` in the loop's own
        thread."""
        self.check_process()
        if self._is_stopped:
            raise Closed("this client or peer was closed; make a new one")
        if self.is_current:
            raise RuntimeError(
                "a blocking call in the thread that would carry it out: it would wait for itself; "
                "call from another thread"
            )

    def _running(self) -> asyncio.AbstractEventLoop:
        """The loop, started if need be; raises as `check`."""
        self.check()
        with self._starting:
            if self._loop is None:
                self.check()  # again: it may have been stopped since
                self._start()
        assert self._loop is not None
        return self._loop

    def _start(self) -> None:
        """Begin; raises what kept the loop from being made, such as too many open files."""
        begun: Future[None] = Future()

        def run() -> None:
            try:
                runner = asyncio.Runner(loop_factory=fastest_loop())
                self._loop = runner.get_loop()
            except BaseException as error:
                begun.set_exception(error)
                return
            begun.set_result(None)
            with runner:
                runner.run(self._until_stopped())
            for future in list(self._under_way):  # those that came when it cancelled no more
                future.cancel()

        thread = threading.Thread(target=run, name="meteor-sync", daemon=True)
        thread.start()
        self._thread = thread
        try:
            begun.result()
        except Exception:
            self._thread = None
            raise

    async def _until_stopped(self) -> None:
        await self._stopping.wait()

    async def _end(self, farewell: Callable[[], Awaitable[object]] | None) -> None:
        try:
            if farewell is not None:
                await asyncio.wait_for(farewell(), STOP_S / 2)
        finally:
            self._stopping.set()


def result_of(future: Future[ResultT]) -> ResultT:
    """What comes of it; leaving the wait cancels it, and the loop's end is `Closed`."""
    try:
        return future.result()
    except CancelledError:
        raise Closed("this client or peer was closed meanwhile; make a new one") from None
    except BaseException:
        future.cancel()  # without effect when it is its own error
        raise
