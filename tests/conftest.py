"""Rules of the whole suite: nothing skips silently, failures can be replayed, files suffice.

A skipped test fails the run unless tests/skips.txt lists it with its reason.  A failing property
test prints the blob that replays it; `HYPOTHESIS_PROFILE=long` draws more examples.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SKIPS = Path(__file__).with_name("skips.txt")
FILES_WANTED = 8192
"""64 peers over sockets hold about 1,100 descriptors; the usual soft limit is 1,024."""

THRESHOLDS = (10_000, 20, 50)
"""New objects until the collector looks at the young ones, and such looks until the older ones."""

NAME_LENGTH_MAX, NAME_BEGINNING = 200, 40
"""How long a value may be in a test's name, and what of a longer one is in it."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell ignores Ctrl-C for what it runs in the background, and programs that tests start and
    # interrupt would inherit that and never end
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "default",
    max_examples=50,  # every change runs the suite, which is to end within ten minutes
    deadline=None,  # a shared machine stalls; time is not what these tests assert
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", settings.get_profile("default"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write expected texts (tests/public_api.txt, transcripts) anew instead of comparing",
    )


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Whether expected texts are to be written anew."""
    return bool(request.config.getoption("--rewrite"))


def pytest_configure(config: pytest.Config) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    config.pluginmanager.register(SkipGuard(allowed_skips(SKIPS.read_text())), "skip-guard")


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long value is called by its beginning and its length: a name of megabytes goes from each
    worker to the one that reports, and with every report of its test again."""
    if type(val) in (str, bytes) and len(val) > NAME_LENGTH_MAX:  # none that lies about its length
        return f"{val[:NAME_BEGINNING]!a} and so on, {len(val)}"
    return None


def pytest_collection_finish() -> None:
    """What all tests share, some hundred thousand objects, is never looked at by the collector, and
    what is new more seldom: that was a tenth of all processor time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)


def allowed_skips(text: str) -> dict[str, str]:
    """Pattern of a test's id -> reason; a line without a reason is an error."""
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        pattern, separator, reason = line.partition("|")
        if not separator or not reason.strip():
            raise pytest.UsageError(f"{SKIPS.name}:{number}: no reason given: {line!r}")
        allowed[pattern.strip()] = reason.strip()
    return allowed


class SkipGuard:
    """Fails the run when a test was skipped that is not on the list."""

    def __init__(self, allowed: dict[str, str]) -> None:
        self.allowed = allowed
        self.unlisted: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.note(report.nodeid, report.skipped, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.note(report.nodeid, report.skipped, report.longrepr)

    def note(self, nodeid: str, skipped: bool, why: object) -> None:
        if skipped and not any(fnmatch(nodeid, pattern) for pattern in self.allowed):
            self.unlisted.append(f"{nodeid}: {why[2] if isinstance(why, tuple) else why}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        worker = hasattr(session.config, "workerinput")  # the controller sees every report
        if self.unlisted and not worker and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unlisted:
            terminalreporter.section("skipped, but not listed in tests/skips.txt", red=True)
            for line in self.unlisted:
                terminalreporter.line(line)
