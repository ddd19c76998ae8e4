"""Runs the emulator; started by its own interpreter, so it imports nothing of ours.

What it changes in the emulator, and why (private names: each is checked, and a test sees the effect):

- the scheduler looks every second, not every ten, so that `at(...)` schedules fire on time;
- an invocation that logs nothing waits 3 ms for a first line of log, not 50 ms;
- functions run under the plain interpreter, so that a package which a layer lacks is missing here too;
- permissions to send mail and to create schedules are checked against the named identity and group,
  not against `*` and the default group;
- what functions write, and the traces of their errors, goes to this program's error output.

It also ends the emulator with the program that started it, even if that was killed: standard input is
a pipe from there, and its end means the other side is gone.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
from email.utils import parseaddr
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable

SCHEDULE_TICK_SECONDS = 1.0
FIRST_LOG_LINE_SECONDS = 0.003
EMULATORS_LOG_LINE_SECONDS = 0.050
# The emulator has no types; what is taken from its modules and classes is anything.
Anything = Any


def main() -> None:
    """Change the emulator, then run it until the end of standard input."""
    threading.Thread(target=stop_with_parent, daemon=True).start()
    speed_up_scheduler()
    speed_up_logs()
    use_plain_interpreter()
    show_function_output()
    name_resources()
    from ministack.app import main as run

    sys.argv = ["ministack"]
    run()


def stop_with_parent() -> None:
    """Wait for the end of standard input, then remove the temporary folder and end the process group."""
    sys.stdin.buffer.read()
    shutil.rmtree(os.environ["TMPDIR"], ignore_errors=True)
    os.killpg(0, signal.SIGKILL)


def speed_up_scheduler() -> None:
    """Let one-time schedules fire within a second of their time."""
    from ministack.services import scheduler

    part(scheduler, "_SCHEDULE_TICK_INTERVAL")
    scheduler._SCHEDULE_TICK_INTERVAL = SCHEDULE_TICK_SECONDS


def speed_up_logs() -> None:
    """Shorten the wait for a first line of log, the first default of one method."""
    from ministack.core import lambda_runtime

    drain = part(lambda_runtime.Worker, "_drain_stderr_bounded")
    first, *others = drain.__defaults__
    if first != EMULATORS_LOG_LINE_SECONDS:
        raise SystemExit("the emulator's wait for a log line has changed: see launcher.py")
    drain.__defaults__ = (FIRST_LOG_LINE_SECONDS, *others)


def use_plain_interpreter() -> None:
    """Run functions outside the emulator's environment, whose packages they must not see."""
    from ministack.core import lambda_runtime

    detect = part(lambda_runtime, "_detect_runtime_binary")
    # The interpreter that the environment was made from; typeshed does not know the name.
    plain = cast("str", sys._base_executable)  # type: ignore[attr-defined]

    def detect_plain(runtime: str) -> tuple[str, str]:
        binary, script = detect(runtime)
        return (plain if binary == sys.executable else binary), script

    lambda_runtime._detect_runtime_binary = detect_plain


def show_function_output() -> None:
    """Write what functions print, and the traces of their errors, as they come."""
    from ministack.core import lambda_runtime

    worker = lambda_runtime.Worker
    invoke: Callable[..., dict[str, object]] = part(worker, "invoke")
    part(worker, "_read_stderr")

    def invoke_and_report(self: Anything, *args: object, **kwargs: object) -> dict[str, object]:
        response = invoke(self, *args, **kwargs)
        if response.get("status") == "error":
            log(self.func_name, response.get("trace") or response.get("error"))
        return response

    def read_and_log(self: Anything) -> None:
        for line in self._proc.stderr:
            self._stderr_queue.put(line.rstrip("\n"))
            log(self.func_name, line)

    worker.invoke = invoke_and_report
    worker._read_stderr = read_and_log


def name_resources() -> None:
    """Let permissions be checked against the resource that a request names in its body."""
    from ministack.core import iam_actions

    extract: Callable[..., str] = part(iam_actions, "extract_resource_arn")

    def extract_named(
        service: str, method: str, path: str, headers: object, body: bytes, *rest: Anything
    ) -> str:
        *_, region, account = rest
        if method == "POST" and path.rstrip("/").endswith("/v2/email/outbound-emails"):
            sender = parseaddr(json.loads(body).get("FromEmailAddress", ""))[1]
            return f"arn:aws:ses:{region}:{account}:identity/{sender}"
        if method == "POST" and path.startswith("/schedules/"):
            group = json.loads(body).get("GroupName", "default")
            name = path.removeprefix("/schedules/")
            return f"arn:aws:scheduler:{region}:{account}:schedule/{group}/{name}"
        return extract(service, method, path, headers, body, *rest)

    iam_actions.extract_resource_arn = extract_named


def part(owner: Anything, name: str) -> Anything:
    """Return a private part of the emulator, or end with a line that says which one is gone."""
    found = getattr(owner, name, None)
    if found is None:
        raise SystemExit(f"the emulator has no {owner.__name__}.{name} any more: see launcher.py")
    return found


def log(function: str, text: object) -> None:
    """Write one piece of a function's output, marked with its name."""
    print(f"[{function}] {str(text).rstrip()}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
