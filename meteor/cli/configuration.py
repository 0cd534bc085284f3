"""Where an option's value comes from: a TOML file, then the environment, then the flag.

Law of this file: the three sources in this order of rising precedence, and every value knows its
own.  click reads flags and environment; the file is read here, once, when it is first asked for.
A key that no command knows is an error: a misspelt setting would else be a silent default.

    [peer]
    listen = "10.0.0.5:7400"
    data_dir = "data"            # relative to this file
    [client]
    peer = ["10.0.0.5:7400", "10.0.0.6:7400"]
    [tls]
    ca = "certs/ca.pem"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

SETTINGS: Final[Mapping[str, tuple[str, ...]]] = {
    "peer": (
        "listen", "advertise", "join", "join_file", "zeroconf", "found_if_alone", "space",
        "data_dir", "placement", "token_file", "cors_origins", "copies", "copies_min", "preset",
        "insecure", "client_certificates", "policy", "event_log", "loop", "log_format", "log_level",
    ),
    "client": ("peer", "timeout", "json", "identity"),
    "tls": ("ca", "cert", "key"),
}  # fmt: skip
"""Each section of the file, and its keys."""

FILE_VARIABLE: Final = "METEOR_CONFIG"
SOURCES: Final = {
    ParameterSource.COMMANDLINE: "flag",
    ParameterSource.ENVIRONMENT: "environment",
    ParameterSource.DEFAULT_MAP: "file",
    ParameterSource.DEFAULT: "default",
}


class Configuration:
    """The values of one file; without a file there are none."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._sections: dict[str, dict[str, Any]] | None = None

    @classmethod
    def found(cls) -> Configuration:
        """The file that nobody named: `meteor.toml` here, or in the user's or the machine's
        directory of configurations."""
        home = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        places = ["meteor.toml", f"{home}/meteor/meteor.toml", "/etc/meteor/meteor.toml"]
        paths = [Path(place).expanduser() for place in places]
        return cls(next((path for path in paths if path.is_file()), None))

    def find(self, section: str, key: str) -> Any:
        """The file's value; None where it has none.  Raises `click.UsageError`."""
        if self._sections is None:
            self._sections = {} if self.path is None else _read(self.path)
        return self._sections.get(section, {}).get(key)

    def beside(self, path: str) -> str:
        """A path of the file, which is relative to it."""
        assert self.path is not None
        return str(self.path.parent / Path(path).expanduser())


class Setting(click.Option):
    """An option that the environment and the file can give too."""

    def __init__(self, *args: Any, section: str, key: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section, self.key = section, key

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        """The value and where it comes from; the file is asked last but for the default."""
        value, source = super().consume_value(ctx, opts)
        configuration = ctx.find_object(Configuration)
        if source is not ParameterSource.DEFAULT or configuration is None:
            return value, source
        found = configuration.find(self.section, self.key)
        if found is None:
            return value, source
        if isinstance(self.type, click.Path) and isinstance(found, str):
            found = configuration.beside(found)
        listed = isinstance(found, list)
        if listed is not self.multiple or isinstance(found, dict):
            found = [found] if self.multiple and isinstance(found, str) else _unfit(self, found)
        return found, ParameterSource.DEFAULT_MAP

    def get_error_hint(self, ctx: click.Context | None) -> str:
        """Where the wrong value stands: in the file, the environment or the flag."""
        source = None if ctx is None or self.name is None else ctx.get_parameter_source(self.name)
        configuration = None if ctx is None else ctx.find_object(Configuration)
        if source is ParameterSource.DEFAULT_MAP and configuration is not None:
            return f"[{self.section}] {self.key} in {configuration.path}"
        if source is ParameterSource.ENVIRONMENT:
            return str(self.envvar)
        return " / ".join(repr(name) for name in self.opts)


def setting(section: str, key: str, *names: str, **attributes: Any) -> Callable[..., Any]:
    """An option `--key` (`--tls-key` in the section `tls`), or of other names, that can stand in
    the file and in the environment."""
    assert key in SETTINGS[section]
    prefix = "tls-" if section == "tls" else ""
    flag = f"--{prefix}{key.replace('_', '-')}"
    return click.option(
        *(names or (flag,)),
        cls=Setting,
        section=section,
        key=key,
        envvar=variable_of(section, key),
        show_envvar=True,
        **attributes,
    )


def variable_of(section: str, key: str) -> str:
    """The environment's name of a setting."""
    return f"METEOR_{'TLS_' if section == 'tls' else ''}{key.upper()}"


def _unfit(option: Setting, found: object) -> Any:
    wanted = "a list" if option.multiple else "one value"
    raise click.UsageError(f"[{option.section}] {option.key} is {wanted}, not {found!r}")


def _read(path: Path) -> dict[str, dict[str, Any]]:
    try:
        sections = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{path} cannot be read: {error}") from None
    for section, values in sections.items():
        _check_known(path, "section", section, SETTINGS)
        if not isinstance(values, dict):
            raise click.UsageError(f"{path}: {section!r} is no section: write [{section}]")
        for key in values:
            _check_known(path, f"key of [{section}]", key, SETTINGS[section])
    return sections


def _check_known(path: Path, what: str, name: str, known: Any) -> None:
    if name in known:
        return
    near = get_close_matches(name, list(known), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    raise click.UsageError(f"{path}: {name!r} is no {what}; {hint}")
