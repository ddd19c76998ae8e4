"""`make run` and `make demo`: a local stack with one sample run that asks a person.

With `--stay` the person is you: the links are printed and the stack stays until Ctrl-C. Without it the
program plays the person through the same pages, prints each step with its time, and ends with 0 when
the comment it typed stands in what the run ended with.
"""

from __future__ import annotations

import argparse
import secrets
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sayso_local import browser
from sayso_local.api import ENDED, Api, final_output, form_link, wait_for
from sayso_local.errors import LocalStackError
from sayso_local.main import stop_once
from sayso_local.places import Places, find_places
from sayso_local.sample import create_request, openai_model, scripted_model
from sayso_local.stack import LocalStack, running_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

BUTTON = "approve"


def main() -> int:
    """Run the sample; 0 when it did what it should."""
    options = parse()
    stop_once()
    steps = Steps()
    try:
        places = find_places()
        with (
            model_of(options.model, places) as model,
            running_stack(places, port=options.port, parameters={}) as stack,
        ):
            if options.stay:
                stay(stack, create_request(model))
            else:
                steps.done(f"the local stack is ready at {stack.url}")
                play(stack, create_request(model), steps)
    except LocalStackError as error:
        print(f"sayso: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0 if options.stay else 130
    return 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run a sample on the local stack.")
    parser.add_argument("--port", type=int, default=0, help="the port; 0 takes a free one")
    parser.add_argument("--stay", action="store_true", help="let a person answer, until Ctrl-C")
    parser.add_argument(
        "--model", choices=["scripted", "stub"], default="scripted", help="which model answers"
    )
    return parser.parse_args()


class Steps:
    """Prints what is done and how long it took."""

    def __init__(self) -> None:
        self._begun_at = self._last_at = time.monotonic()

    def done(self, what: str) -> None:
        """Print one step."""
        now = time.monotonic()
        print(f"{now - self._begun_at:6.2f} s  (+{now - self._last_at:.2f})  {what}", flush=True)
        self._last_at = now


def play(stack: LocalStack, request: dict[str, object], steps: Steps) -> None:
    """Ask, wait, answer as a person, and look at the result.

    Raises:
        LocalStackError: A step went wrong, or the comment is missing in the result.
    """
    api = Api(stack)
    comment = f"Fine with me, {secrets.token_hex(6)}"
    seen = len(api.mails())
    run_id = api.create_run(request)
    steps.done(f"run {run_id} was taken")
    wait_for("the run to pause", lambda: api.status(run_id) == "paused" or None)
    steps.done("the agent asked; the run is paused and nothing is running")
    link = wait_for("the mail", lambda: next(links(api, after=seen), None))
    steps.done("the mail has come")
    form = browser.read_form(browser.open_page(link))
    steps.done("the form is open")
    browser.post(link, form, browser.fill(form, text=comment, button=BUTTON))
    steps.done(f"answered: {BUTTON}, {comment!r}")
    wait_for("the run to end", lambda: api.status(run_id) in ENDED or None)
    output = final_output(api.events(run_id))
    steps.done(f"the run has ended: {output}")
    if comment not in output:
        raise LocalStackError(f"the comment {comment!r} is missing in the output")


def stay(stack: LocalStack, request: dict[str, object]) -> None:
    """Start the run, print where a person finds it, and stay."""
    api = Api(stack)
    run_id = api.create_run(request)
    link = wait_for("the mail", lambda: next(links(api), None))
    print(
        f"\nSayso runs on this machine; nothing leaves it.\n\n"
        f"  Form     {link}\n"
        f"  Mailbox  {stack.mail_url}\n"
        f"  API      {stack.url}\n"
        f"  API key  {stack.api_key}\n"
        f"  Run      {run_id}\n"
        f"  Logs     {stack.log}\n\n"
        f"The run waits for your answer: open the mailbox or the form. Ctrl-C ends everything.\n",
        flush=True,
    )
    threading.Thread(target=report_end, args=(api, run_id), daemon=True).start()
    threading.Event().wait()


def report_end(api: Api, run_id: str) -> None:
    """Print what the run ended with, whenever that is; a stack that is being stopped ends the wait."""
    try:
        while api.status(run_id) not in ENDED:
            time.sleep(0.5)
        print(f"The run has ended: {final_output(api.events(run_id))}", flush=True)
    except LocalStackError as error:
        print(f"The run has ended. {error}", flush=True)
    except OSError:
        return


def links(api: Api, *, after: int = 0) -> Iterator[str]:
    """Find the links to forms in all mails, oldest first, but for the first ones."""
    return (link for mail in api.mails()[after:] if (link := form_link(mail)))


@contextmanager
def model_of(name: str, places: Places) -> Iterator[dict[str, object]]:
    """Give the model's part of the composition; the stub is a program that runs meanwhile."""
    if name == "scripted":
        yield scripted_model()
        return
    server = places.root / "tests" / "stub_model" / "server.py"
    # It ends with us: its standard input is a pipe from here.
    with subprocess.Popen(
        [sys.executable, server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield openai_model(process.stdout.readline().strip())
        finally:
            process.kill()


if __name__ == "__main__":
    sys.exit(main())
