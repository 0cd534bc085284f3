"""`meteor peer --policy` as a process: SIGHUP reads the file again, and a bad one ends nothing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from meteor.cli import exit_codes, main
from tests.meteor.security.signers import ALICE

pytestmark = [pytest.mark.processes, pytest.mark.sockets]

SPACE = 'name = "s"\n[[dimensions]]\nname = "type"\nkind = "word"\n'
DENY = 'default = "deny"\n[[rules]]\nname = "alice"\nwho = ["KEY"]\n'.replace("KEY", ALICE.key)


def test_sighup_reads_the_policy_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "space.toml").write_text(SPACE)
    policy, identity = tmp_path / "policy.toml", tmp_path / "alice.pem"
    policy.write_text('default = "allow"')
    ALICE.save(identity)
    peer = subprocess.Popen(
        [sys.executable, "-m", "meteor", "peer", "--listen", "127.0.0.1:0", "--json",
         "--space", str(tmp_path / "space.toml"), "--policy", str(policy)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert peer.stdout is not None
        assert peer.stderr is not None
        address = json.loads(peer.stdout.readline())["address"]
        post = ["post", "type=a", "--data", "x", "--peer", address]
        assert main(post) == 0
        policy.write_text(DENY)
        peer.send_signal(signal.SIGHUP)
        for _ in range(100):  # a signal is heeded soon; each try is a whole connection
            if main(post) == exit_codes.REFUSED:
                break
        assert main(post) == exit_codes.REFUSED
        assert "rule 'default'" in capsys.readouterr().err
        assert main([*post, "--identity", str(identity)]) == 0
        hidden = ["--visible-to", ALICE.key, "--identity", str(identity)]
        assert main([*post, "--json", *hidden]) == 0
        policy.write_text("rubbish")
        peer.send_signal(signal.SIGHUP)
        said = [peer.stderr.readline() for _ in range(3)]  # twice that there are no certificates
        assert any("policy.toml" in line for line in said), said
        assert main(post) == exit_codes.REFUSED
        assert main([*post, "--identity", str(identity)]) == 0
    finally:
        peer.terminate()
        _, errors = peer.communicate(timeout=30)
    assert peer.returncode == 0, errors
    assert main(["post", "type=a", "--identity", str(tmp_path / "no.pem")]) == 2
