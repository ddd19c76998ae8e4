"""The command `sayso-local` as a program sees it: one line, clean ends, one-line errors."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.stand_ins import write_stand_ins

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.stack

MEMBERS = {
    "url",
    "mail_url",
    "api_key",
    "endpoint_url",
    "aws_access_key_id",
    "aws_secret_access_key",
    "region",
    "stack",
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real template with stand-in functions."""
    return write_stand_ins(tmp_path_factory.mktemp("stand-ins"))


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder for temporary files of a started program."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    return folder


def start(source: Path, temporary: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start the command."""
    return subprocess.Popen(
        [sys.executable, "-m", "sayso_local.main", "--source", source, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
    )


def run(source: Path, *arguments: str) -> tuple[int, str, list[str]]:
    """Run the command to its end; return code, output and lines of error output."""
    with tempfile.TemporaryDirectory() as temporary:
        with start(source, Path(temporary), *arguments) as process:
            try:
                output, errors = process.communicate(timeout=60)
            finally:
                process.kill()
        assert list(Path(temporary).iterdir()) == []
    return process.returncode, output, errors.splitlines()


@pytest.fixture
def program(source: Path, temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """A started command; ended by its test."""
    with start(source, temporary, "--port", "0") as process:
        yield process
        process.kill()


def processes_using(folder: Path) -> list[int]:
    """All processes that work in a folder; the emulator and its functions do."""
    found: list[int] = []
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if entry.readlink().is_relative_to(folder):
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def wait_until_gone(temporary: Path) -> None:
    """Wait until no process and no file is left; fail after some seconds."""
    give_up_at = time.monotonic() + 10
    while processes_using(temporary) or any(temporary.iterdir()):
        assert time.monotonic() < give_up_at, "something is left"
        time.sleep(0.05)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_one_line_says_ready_and_nothing_is_left_in_the_end(
    program: subprocess.Popen[str], temporary: Path, ending: signal.Signals
) -> None:
    assert program.stdout is not None
    ready = json.loads(program.stdout.readline())
    running = processes_using(temporary)

    program.send_signal(ending)
    rest, errors = program.communicate(timeout=20)

    assert set(ready) == MEMBERS
    assert ready["mail_url"] == f"{ready['url']}/_mail"
    assert running
    assert rest == ""
    assert re.fullmatch(r"sayso-local: functions log to \S+\.log\n", errors)
    assert program.returncode == (-ending if ending == signal.SIGKILL else 0)
    wait_until_gone(temporary)


def test_a_start_that_is_interrupted_leaves_nothing(source: Path, temporary: Path) -> None:
    with start(source, temporary, "--port", "0") as process:
        while not processes_using(temporary):
            assert process.poll() is None
            time.sleep(0.01)

        process.terminate()
        output, _ = process.communicate(timeout=20)

    assert output == ""
    wait_until_gone(temporary)


def test_a_taken_port_is_one_clear_line(source: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        code, output, errors = run(source, "--port", str(port))

    assert (code, output) == (1, "")
    assert len(errors) == 1
    assert errors[0].startswith(f"sayso-local: port {port} is in use: ")


def test_a_missing_handler_is_one_clear_line(tmp_path: Path) -> None:
    source = write_stand_ins(tmp_path)
    (source / "functions" / "deliver" / "app.py").unlink()

    code, output, errors = run(source, "--port", "0")

    assert (code, output) == (1, "")
    assert errors == [f"sayso-local: functions/deliver/app.py is missing in {source}"]


def test_a_failed_deploy_names_the_resource_and_the_reason(tmp_path: Path) -> None:
    source = write_stand_ins(tmp_path)
    template = source / "template.yaml"
    template.write_text(
        template.read_text().replace(
            "MatchingEventTypes: [BOUNCE, ", "MatchingEventTypes: [BOINK, "
        )
    )

    code, output, errors = run(source, "--port", "0")

    assert (code, output) == (1, "")
    assert len(errors) == 1
    assert errors[0].startswith("sayso-local: the stack was not created: MailEvents: ")


def test_a_wrong_parameter_is_one_clear_line(source: Path) -> None:
    code, output, errors = run(source, "--port", "0", "--parameter", "Nonsense=1")

    assert (code, output) == (1, "")
    assert errors == ["sayso-local: the template has no parameter 'Nonsense'"]


def test_a_value_that_is_not_allowed_names_its_parameter(source: Path) -> None:
    code, output, errors = run(source, "--port", "0", "--parameter", "Stage=mars")

    assert (code, output) == (1, "")
    assert len(errors) == 1
    assert "Stage" in errors[0]


def test_an_argument_without_a_value_is_refused(source: Path) -> None:
    code, output, errors = run(source, "--parameter", "LeaseSeconds")

    assert (code, output) == (2, "")
    assert "'LeaseSeconds' is not NAME=VALUE" in errors[-1]
