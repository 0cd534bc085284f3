"""`meteor keygen`: a key pair of one's own.

Law of this file: the secret goes into a file that its user alone may read, and nothing is written
over; what is printed is public.
"""

from __future__ import annotations

from pathlib import Path

import click

from meteor.cli import exit_codes
from meteor.cli.options import echo_json, json_option


@click.command("keygen", epilog="Example: meteor keygen '~/.config/meteor/identity.pem'")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--show", is_flag=True, help="Make nothing: print the public key of a file's.")
@json_option
def command(file: Path, show: bool, as_json: bool) -> int:
    """Make an Ed25519 identity in FILE and print its public key.

    The key is the owner of what is posted with --identity FILE: name it in policies, in
    --visible-to and in delegations. FILE is a secret, of mode 0600; a FILE that is there is never
    written over.
    """
    from meteor.security.identity import Identity  # noqa: PLC0415 - help waits for no cryptography

    path = file.expanduser()
    try:
        if show:
            identity = Identity.load(path)
        else:
            identity = Identity.generate()
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            identity.save(path)
    except FileExistsError:
        raise click.UsageError(
            f"{path} is there already, and a key that is written over is lost: choose another "
            "file, or say --show to see its public key"
        ) from None
    except (OSError, ValueError) as error:
        raise click.UsageError(str(error)) from error
    if as_json:
        echo_json({"key": identity.key, "file": str(path)})
    else:
        click.echo(identity.key)
    return exit_codes.DONE
