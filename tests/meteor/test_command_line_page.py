"""docs/command-line.md says what click says: it is made from the commands themselves.

`python -m pytest tests/meteor/test_command_line_page.py --rewrite` writes it anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from meteor.cli import COMMANDS, commands
from meteor.cli.configuration import SETTINGS, Setting

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
MADE = "<!-- made from the commands: pytest tests/meteor/test_command_line_page.py --rewrite -->"


def command_named(name: str) -> click.Command:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    return command


def every_command() -> Iterator[tuple[str, click.Command]]:
    for name in COMMANDS:
        command = command_named(name)
        yield name, command
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", one) for inner, one in sorted(command.commands.items()))


def plain(text: str | None) -> str:
    """Help in one paragraph a blank line, code of click's verbatim blocks kept."""
    paragraphs = re.split(r"\n\s*\n", (text or "").strip())
    shown = []
    for paragraph in paragraphs:
        if paragraph.startswith("\b"):
            shown.append(f"```text\n{paragraph.removeprefix(chr(8)).strip(chr(10))}\n```")
        else:
            shown.append(" ".join(paragraph.split()))
    return "\n\n".join(shown)


def spelling(option: click.Option) -> str:
    value = "" if option.is_flag else f" {option.metavar or metavar_of(option)}"
    return f"`{', '.join(option.opts)}{value}`".replace("|", "\\|")


def metavar_of(option: click.Option) -> str:
    kind: Any = option.type
    if isinstance(kind, click.Choice):
        return "|".join(kind.choices)
    return {"integer": "N", "float": "N", "integer range": "N", "float range": "N"}.get(
        kind.name, str(kind.name).upper()
    )


def row(option: click.Option) -> str:
    cells = [spelling(option), (option.help or "").replace("|", "\\|")]
    if isinstance(option, Setting):
        cells[1] += f" `{option.envvar}`"
    shown = option.default
    if option.show_default and shown not in (None, False, ()):
        values = shown if isinstance(shown, tuple) else (shown,)
        cells[1] += f" Default: {', '.join(map(str, values))}."
    return f"| {' | '.join(cell.strip() for cell in cells)} |"


def section(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"meteor {name}")
    usage = " ".join(command.collect_usage_pieces(context))
    examples = re.findall(r"Example: ([^\n]+)", command.epilog or "")
    options = [row(one) for one in command.params if isinstance(one, click.Option) and one.help]
    level = "##" if " " not in name else "###"
    return "\n".join(
        [
            f"{level} meteor {name}", "", f"`meteor {name} {usage}`", "", plain(command.help), "",
            *(["```text", *examples, "```", ""] if examples else []),
            "| option | meaning |", "|---|---|", *options, "",
        ]
    )  # fmt: skip


def page() -> str:
    listed = "\n".join(f"| `meteor {name}` | {meaning} |" for name, meaning in COMMANDS.items())
    sections = "\n".join(section(name, command) for name, command in every_command())
    keys = "\n".join(f"| `[{name}]` | {', '.join(f'`{key}`' for key in found)} |"
                     for name, found in SETTINGS.items())  # fmt: skip
    exits = plain(commands.help).partition("Exit codes: ")[2]
    return f"""# The command line

{MADE}

| command | |
|---|---|
{listed}

Every command takes `--help`, which ends with an example, and `--json`, which prints one object a
line and nothing else on the standard output; words to people go to the standard error. Colours are
for terminals only, and `NO_COLOR` turns them off there too. Exit codes: {exits}

## Settings

What stands with a variable's name below can also be given by that variable, or in a file:
`--config FILE`, `METEOR_CONFIG`, or `meteor.toml` here, in `~/.config/meteor` or in `/etc/meteor`.
A flag beats the environment, which beats the file. Paths in the file are relative to it.

| section | keys |
|---|---|
{keys}

## Completion

`eval "$(_METEOR_COMPLETE=bash_source meteor)"` in `~/.bashrc`; `zsh_source` in `~/.zshrc`; for fish
`_METEOR_COMPLETE=fish_source meteor | source` in its configuration.

{sections}"""


def test_the_page_says_what_the_commands_say(rewrite: bool) -> None:
    wanted = page()
    if rewrite:
        PAGE.write_text(wanted)
    assert PAGE.read_text() == wanted, "docs/command-line.md is old: run this test with --rewrite"


@pytest.mark.parametrize(("name", "command"), list(every_command()), ids=lambda one: str(one)[:20])
def test_every_option_says_what_it_is_for(name: str, command: click.Command) -> None:
    silent = [
        one.opts[0] for one in command.params if isinstance(one, click.Option) and not one.help
    ]
    assert not silent, name
    assert command.help
