"""Logs for people and for machines, by the standard library's `logging` alone.

Law of this file: a format, no framework.  Meteor's loggers are `meteor.*`; an application that
embeds a peer configures them as any others, and nothing here runs unless it is called.
"""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final, Literal

LogFormat = Literal["text", "json"]

_OWN_FIELDS: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
"""What every record has; everything else was given by `extra=`."""


class JsonFormatter(logging.Formatter):
    """A record as one JSON object on one line: `time`, `level`, `logger`, `message`, what was given
    by `extra=`, and `error` with the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        form: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        form |= {key: value for key, value in vars(record).items() if key not in _OWN_FIELDS}
        if record.exc_info:
            form["error"] = self.formatException(record.exc_info)
        return json.dumps(form, ensure_ascii=False, default=str)


def log_to(stream: Any, form: LogFormat = "text", level: str = "warning") -> None:
    """Write this process's logs to a stream: for who owns the process, never the library."""
    handler = logging.StreamHandler(stream)
    if form == "json":
        handler.setFormatter(JsonFormatter())
    else:
        pattern = "%(asctime)s %(levelname)s %(name)s: %(message)s"
        handler.setFormatter(logging.Formatter(pattern))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)  # of other libraries nobody asked for more
    logging.getLogger("meteor").setLevel(level.upper())
    # Noise on the port is no error of this peer; what is wrong with a request, REST logs itself.
    logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)
