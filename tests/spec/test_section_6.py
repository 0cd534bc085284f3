"""Sentences on the command line that stand nowhere else."""

from __future__ import annotations

import asyncio

import pytest

import meteor
from meteor.cli import COMMANDS, exit_codes, main
from sim.cli import COMMANDS as SIM_COMMANDS
from tests.meteor.building import SPACE
from tests.meteor.lost_arcs import lose_arc


def test_the_commands_are_those_of_the_specification() -> None:
    named = "peer post get watch delete ring demo keygen certs doctor config"
    assert set(COMMANDS) == set(named.split())


def test_the_commands_of_the_simulator() -> None:
    named = {"churn", "failures", "scenario", "measure", "study", "logs"}
    assert named <= set(SIM_COMMANDS)


def test_the_exit_codes_are_those_of_the_specification() -> None:
    said = (exit_codes.DONE, exit_codes.NO_MATCH, exit_codes.BAD_INPUT, exit_codes.INCOMPLETE,
            exit_codes.REFUSED, exit_codes.UNREACHABLE, exit_codes.INTERRUPTED)  # fmt: skip
    assert said == (0, 1, 2, 3, 4, 5, 130)


@pytest.mark.parametrize("command", ["post", "get", "watch", "delete", "ring"])
def test_every_command_but_a_peer_takes_peer_and_json(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "--help"]) == exit_codes.DONE
    shown = capsys.readouterr().out
    assert "--peer HOST:PORT" in shown
    assert "--json" in shown


@pytest.mark.sockets
async def test_what_is_incomplete_is_exit_code_3(capsys: pytest.CaptureFixture[str]) -> None:
    """What was found is printed all the same, and what is missing is named."""
    async with meteor.LocalOverlay(
        peers=3, space=SPACE, copies=1, transport="websocket", ids=[1, 1 << 158, 3 << 158]
    ) as overlay:
        await overlay.peers[0].store("type=lamp temperature=20", "lit")
        await lose_arc(overlay, overlay.peers[2])
        asked = ["get", "temperature=*", "--everywhere", "--timeout", "2", "--peer"]
        code = await asyncio.to_thread(main, [*asked, overlay.peers[0].address])
        shown = capsys.readouterr()
        assert code == exit_codes.INCOMPLETE
        assert "missing" in shown.err
        code = await asyncio.to_thread(main, [*asked, overlay.peers[0].address, "--allow-partial"])
        assert code in (exit_codes.DONE, exit_codes.NO_MATCH)
        watch = ["watch", *asked[1:3], "--timeout", "1", "--peer", overlay.peers[0].address]
        assert await asyncio.to_thread(main, watch) == exit_codes.INCOMPLETE
        capsys.readouterr()
        code = await asyncio.to_thread(main, [*watch, "--allow-partial"])
        assert code in (exit_codes.DONE, exit_codes.NO_MATCH)
        assert "a part of the region does not answer" in capsys.readouterr().err
