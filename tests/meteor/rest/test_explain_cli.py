"""`meteor get --explain`: what a question would cost, without asking it."""

from __future__ import annotations

import json

import pytest

from meteor.cli import exit_codes, main
from tests.meteor.ring_beside import RingBeside

pytestmark = pytest.mark.sockets


def test_the_cost_of_a_selector_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with RingBeside(peers=3) as ring:
        asked = ["get", "temperature=20..30", "--explain", "--peer", ring.addresses[0]]
        assert main(asked) == exit_codes.DONE
        shown = capsys.readouterr().out
        assert "temperature: 6.061% of its axis" in shown
        assert "of 3 peers would be asked" in shown
        assert main([*asked, "--json"]) == exit_codes.DONE
        form = json.loads(capsys.readouterr().out)
        assert f"{len(form['touched'])} of 3 peers would be asked" in shown
        everything = ["get", "type=*", "--explain", "--peer", ring.addresses[0]]
        assert main(everything) == exit_codes.DONE
        assert "needs everywhere=True" in capsys.readouterr().out
        slip = ["get", "temperature=hot", "--explain", "--peer", ring.addresses[0]]
        assert main(slip) == exit_codes.BAD_INPUT
