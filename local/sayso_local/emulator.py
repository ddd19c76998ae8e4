"""Starts and stops the emulator: a child process on loopback with a clean environment.

Invariants: it hears only 127.0.0.1; it inherits no variable of ours; when we stop, or die, it and all
function processes end and its temporary folder is removed.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from sayso_local.errors import LocalStackError

if TYPE_CHECKING:
    from types import TracebackType

    from sayso_local.places import Places

HOST = "127.0.0.1"
REGION = "us-east-1"
ACCOUNT = "000000000000"
ACCESS_KEY = "test"
SECRET_KEY = "test"  # noqa: S105 - the emulator's root user; it checks no signature
START_SECONDS = 60.0
KEPT_LOGS = 20


class Emulator:
    """One emulator process; a context manager that stops it."""

    def __init__(self, places: Places, *, log: Path) -> None:
        self._places = places
        self._log_path = log
        self._log: IO[bytes] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.temporary = Path(tempfile.mkdtemp(prefix="sayso-local-"))
        """Everything the emulator writes; removed when it stops."""

    @property
    def url(self) -> str:
        """The endpoint of every emulated service."""
        return f"http://{HOST}:{self.port}"

    def __enter__(self) -> Self:
        """Start the process; `wait_until_ready` tells when it answers."""
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        _forget_old_logs(self._log_path.parent)
        self._log = self._log_path.open("wb")
        self._process = subprocess.Popen(
            [self._places.emulator_python, Path(__file__).with_name("launcher.py")],
            env=self._environment(),
            cwd=self.temporary,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the process group and remove the temporary folder."""
        process = self._process
        assert process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
        if self._log is not None:
            self._log.close()
        shutil.rmtree(self.temporary, ignore_errors=True)

    def wait_until_ready(self) -> None:
        """Return when the emulator answers.

        Raises:
            LocalStackError: It ended, or did not answer in time.
        """
        process = self._process
        assert process is not None
        give_up_at = time.monotonic() + START_SECONDS
        while time.monotonic() < give_up_at:
            if process.poll() is not None:
                raise LocalStackError(f"the emulator ended at once: see {self._log_path}")
            if self._answers():
                return
            time.sleep(0.03)
        raise LocalStackError(
            f"the emulator did not start in {START_SECONDS:.0f} s: see {self._log_path}"
        )

    def _answers(self) -> bool:
        """Whether the health page is there."""
        health = http.client.HTTPConnection(HOST, self.port, timeout=1)
        try:
            health.request("GET", "/_ministack/health")
            return health.getresponse().status == http.HTTPStatus.OK
        except OSError:
            return False
        finally:
            health.close()

    def _environment(self) -> dict[str, str]:
        """The whole environment of the emulator, which it hands on to every function."""
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.temporary),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONNOUSERSITE": "1",
            "PYTHONUNBUFFERED": "1",
            "AUTH": "true",
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "MINISTACK_REGION": REGION,
            "BIND_HOST": HOST,
            "MINISTACK_HOST": HOST,
            "GATEWAY_PORT": str(self.port),
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "LAMBDA_WARM_TTL_SECONDS": "60",
        }


def _forget_old_logs(folder: Path) -> None:
    """Keep the newest logs only: each start on a free port leaves one."""
    newest_first = sorted(folder.glob("*.log"), key=lambda log: log.stat().st_mtime, reverse=True)
    for log in newest_first[KEPT_LOGS:]:
        log.unlink(missing_ok=True)


def free_port() -> int:
    """Return a port of the loopback address that nobody uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
