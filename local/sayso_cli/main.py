"""The command line: reads arguments, calls one command, prints its findings.

Exit codes: 0 all is well, 1 something was found, 2 the command could not work as called.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sayso_cli.dead_letters import list_dead_letters, redrive
from sayso_cli.members import list_members, put_member, remove_member
from sayso_cli.pending import check_pending
from sayso_cli.stack import QUEUES, UsageError, find_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sayso_cli.stack import Stack

    FindStack = Callable[..., Stack]

FINE, FOUND, USAGE = 0, 1, 2
_DEFAULT_STACK = "sayso"
_DEFAULT_LIMIT = 100
_DEFAULT_TENANT = "default"
"""Tenant of a stack's first API key."""


def main(arguments: Sequence[str] | None = None, find: FindStack = find_stack) -> int:
    """Run the command and return its exit code; ``find`` finds the stack."""
    parsed = _parser().parse_args(arguments)
    try:
        stack = find(parsed.stack, region=parsed.region, endpoint_url=parsed.endpoint_url)
        command: Callable[[Stack, argparse.Namespace], int] = parsed.command
        return command(stack, parsed)
    except UsageError as error:
        print(f"sayso: {error}", file=sys.stderr)
        return USAGE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sayso",
        description="Looks after a deployed Sayso stack.",
        epilog="Exit codes: 0 all is well, 1 something was found, 2 wrong usage.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    preflight = commands.add_parser(
        "preflight", help="check that this code can resume everything that waits in the stack"
    )
    _common(preflight, _preflight)
    dlq = commands.add_parser("dlq", help="show or redrive messages that no worker could handle")
    actions = dlq.add_subparsers(required=True, metavar="ACTION")
    _queue(_common(actions.add_parser("list", help="show them and leave them there"), _dlq_list))
    again = _common(actions.add_parser("redrive", help="send them to their queues again"), _redrive)
    _queue(again)
    again.add_argument(
        "--limit", type=int, default=_DEFAULT_LIMIT, help="at most this many (default %(default)s)"
    )
    _members(commands.add_parser("members", help="show or change who can be asked by id"))
    return parser


def _members(members: argparse.ArgumentParser) -> None:
    actions = members.add_subparsers(required=True, metavar="ACTION")
    listing = _common(actions.add_parser("list", help="show the directory"), _members_list)
    put = _common(actions.add_parser("put", help="add or change a member"), _members_put)
    remove = _common(actions.add_parser("remove", help="take a member out"), _members_remove)
    for one in (put, remove):
        one.add_argument("id", help="the member's id, as policies name it")
    put.add_argument("--name", required=True, help="shown to others once they have decided")
    put.add_argument("--address", required=True, help="mail address")
    put.add_argument("--group", action="append", default=[], help="name of a group, repeatable")
    put.add_argument("--language", default="", help="language tag such as pt-BR")
    put.add_argument("--time-zone", default="", help="IANA name such as Europe/Berlin")
    put.add_argument("--inactive", action="store_true", help="keep the member, ask them nothing")
    for one in (listing, put, remove):
        one.add_argument(
            "--tenant", default=_DEFAULT_TENANT, help="whose directory (default %(default)s)"
        )


def _common(
    parser: argparse.ArgumentParser, command: Callable[[Stack, argparse.Namespace], int]
) -> argparse.ArgumentParser:
    parser.set_defaults(command=command)
    parser.add_argument(
        "--stack", default=_DEFAULT_STACK, help="name of the stack (default %(default)s)"
    )
    parser.add_argument("--region", help="AWS region (default: your AWS settings)")
    parser.add_argument("--endpoint-url", help="address of an emulator, for the local stack")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _queue(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--queue", action="append", choices=QUEUES, help="only this queue; may be repeated"
    )


def _dlq_list(stack: Stack, parsed: argparse.Namespace) -> int:
    letters = [letter.shown() for letter in list_dead_letters(stack, parsed.queue or QUEUES)]
    if parsed.json:
        _print_json(letters)
    elif letters:
        for letter in letters:
            sent = datetime.fromtimestamp(letter["sent_at"] / 1000, UTC)
            print(
                f"{sent:%Y-%m-%d %H:%M:%S}Z  {letter['queue']:<10}  {letter['kind']:<10}  "
                f"{letter['subject']}"
            )
    else:
        print("no dead letters")
    return FOUND if letters else FINE


def _redrive(stack: Stack, parsed: argparse.Namespace) -> int:
    moved = redrive(stack, parsed.queue or QUEUES, limit=parsed.limit)
    if parsed.json:
        _print_json({"redriven": moved})
    else:
        print(f"{moved} sent again")
    return FINE


def _members_list(stack: Stack, parsed: argparse.Namespace) -> int:
    found = list_members(stack, parsed.tenant)
    if parsed.json:
        _print_json([asdict(one) for one in found])
    else:
        for one in found:
            state = "" if one.active else "  inactive"
            print(f"{one.id:<20}  {one.name}  <{one.address}>{state}")
        print(f"{len(found)} in the directory")
    return FINE


def _members_put(stack: Stack, parsed: argparse.Namespace) -> int:
    values = {
        "name": parsed.name,
        "address": parsed.address,
        "groups": parsed.group,
        "language": parsed.language,
        "time_zone": parsed.time_zone,
        "active": not parsed.inactive,
    }
    member = put_member(stack, parsed.tenant, parsed.id, values)
    if parsed.json:
        _print_json(asdict(member))
    else:
        print(f"{member.id} stored")
    return FINE


def _members_remove(stack: Stack, parsed: argparse.Namespace) -> int:
    removed = remove_member(stack, parsed.tenant, parsed.id)
    if parsed.json:
        _print_json({"removed": removed})
    else:
        print(f"{parsed.id} removed" if removed else f"there is no member {parsed.id}")
    return FINE if removed else FOUND


def _preflight(stack: Stack, parsed: argparse.Namespace) -> int:
    checked, findings = check_pending(stack)
    if parsed.json:
        found = [{"run_id": one.run_id, "reason": one.reason} for one in findings]
        _print_json({"checked": checked, "findings": found})
    else:
        for one in findings:
            print(f"{one.run_id}  {one.reason}")
        print(f"{checked} pending, {len(findings)} could not be resumed by this code")
    return FOUND if findings else FINE


def _print_json(document: Any) -> None:
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    sys.exit(main())
