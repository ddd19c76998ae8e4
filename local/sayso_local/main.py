"""The command `sayso-local`: starts the local stack for a program and stays until it is told to stop.

Standard output carries one line of JSON, when the stack is ready; everything else goes to standard
error. SIGTERM, SIGINT and the death of this program stop everything.
"""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from sayso_local.errors import LocalStackError
from sayso_local.places import find_places
from sayso_local.stack import running_stack

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stack; 0 after it was told to stop, 1 when it could not start."""
    options = parse(arguments)
    stop_once()
    try:
        places = find_places(source=options.source)
        with running_stack(places, port=options.port, parameters=dict(options.parameter)) as stack:
            print(f"sayso-local: functions log to {stack.log}", file=sys.stderr)
            print(stack.as_json(), flush=True)
            threading.Event().wait()
    except LocalStackError as error:
        print(f"sayso-local: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="sayso-local", description="Run Sayso on this machine.")
    parser.add_argument("--port", type=int, default=8080, help="the port; 0 takes a free one")
    parser.add_argument(
        "--parameter",
        type=name_and_value,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="give a parameter of the template another value",
    )
    parser.add_argument(
        "--source", type=Path, help="deploy this folder's template, functions and layers instead"
    )
    return parser.parse_args(arguments)


def name_and_value(text: str) -> tuple[str, str]:
    """Split `NAME=VALUE`."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def stop_once() -> None:
    """Let SIGTERM and SIGINT end the program once, whatever it does; later ones must not stop the cleaning up."""

    def stop(_signal: int, _frame: object) -> None:
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, signal.SIG_IGN)
        raise KeyboardInterrupt

    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, stop)


if __name__ == "__main__":
    sys.exit(main())
