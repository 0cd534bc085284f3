"""What a handler of the blocking side raises, and nobody takes, is in the log as on an event loop:
what it is, and where it was raised."""

from __future__ import annotations

import logging
import queue
from collections.abc import Iterator

import pytest

import meteor

LOG = logging.getLogger("meteor")


class _Records(logging.Handler):
    """Lets others wait for what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.records: queue.Queue[logging.LogRecord] = queue.Queue()

    def emit(self, record: logging.LogRecord) -> None:
        self.records.put(record)


@pytest.fixture
def logged() -> Iterator[queue.Queue[logging.LogRecord]]:
    handler = _Records()
    LOG.addHandler(handler)
    yield handler.records
    LOG.removeHandler(handler)


@pytest.mark.parametrize("error", [ValueError(), KeyError("x"), SystemExit()])
def test_an_error_of_a_handler_says_what_it_is_and_where(
    client: meteor.sync.Client, logged: queue.Queue[logging.LogRecord], error: BaseException
) -> None:
    """One without words was an empty line."""

    def fail(_: meteor.Notification) -> None:
        raise error

    with client.notify_data("type=t temperature=*", handler=fail):
        client.store("type=t temperature=20")
        record = logged.get(timeout=20)
    assert type(error).__name__ in record.getMessage()
    assert record.exc_info is not None
    assert record.exc_info[1] is error


def test_what_is_no_fault_of_the_application_is_said_in_its_words(
    client: meteor.sync.Client, logged: queue.Queue[logging.LogRecord]
) -> None:
    client._report(meteor.Timeout("nobody answers"))
    record = logged.get(timeout=20)
    assert (record.getMessage(), record.exc_info) == ("nobody answers", None)
