"""A real Gitea on a loopback port, for tests of the forge adapters: SQLite, an administrator ``bot``, up in seconds.

To look around by hand: ``python -m tests.testbed.gitea FOLDER``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import Self

from tests.testbed.gitea_api import GiteaApi
from tests.testbed.parts import Parts, find_parts
from tests.testbed.processes import ProcessDiedError, ProcessGroup, free_port
from tests.testbed.waiting import wait_for

ATTEMPTS = 3
ADMINISTRATOR = "bot"
CONFIGURATION = """\
APP_NAME = forge
RUN_MODE = prod
RUN_USER = {user}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = {port}
ROOT_URL = http://127.0.0.1:{port}/
STATIC_ROOT_PATH = {static}
OFFLINE_MODE = true
DISABLE_SSH = true
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2$1000$50
[service]
DISABLE_REGISTRATION = true
[log]
LEVEL = warn
[cron]
ENABLED = false
[actions]
ENABLED = false
[webhook]
ALLOWED_HOST_LIST = loopback
"""


class Gitea:
    """A forge that lives as long as this context manager.

    Parameters
    ----------
    parts
        The binaries and Gitea's own templates.
    folder
        Emptied first; everything that Gitea keeps is below it, its log is ``log/gitea.log``.
    """

    def __init__(self, parts: Parts, folder: Path) -> None:
        self.parts = parts
        self.folder = folder.resolve()
        self.port = free_port()
        self.token = ""
        self._processes = ProcessGroup(self.folder)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """Address of the forge, without a slash at its end."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def api(self) -> GiteaApi:
        """The forge as the administrator sees it."""
        return GiteaApi(self.url, ADMINISTRATOR, self.token)

    def start(self) -> None:
        """Start the forge; once more with another port if somebody was quicker to take it.

        Raises
        ------
        ProcessDiedError
            It ended while it should come up; the message ends with its log.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._start_once()
                return
            except ProcessDiedError as death:
                self.stop()
                if not death.port_taken or attempt == ATTEMPTS:
                    raise
                self.port = free_port()
            except BaseException:
                self.stop()
                raise

    def stop(self) -> None:
        """End the process and wait until it is gone; its files stay."""
        self._processes.stop(grace=10)

    def pids(self) -> dict[str, int]:
        """Return the process id of the forge, by name."""
        return self._processes.pids()

    def _start_once(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self._write_configuration()
        self._command("migrate")
        self._create_administrator()
        self._processes.start(self.parts.binary("gitea"), "web", env=self._environment())
        wait_for("Gitea", self._healthy)

    def _write_configuration(self) -> None:
        static, conf = self.folder / "static", self.folder / "custom/conf"
        static.mkdir(parents=True)
        conf.mkdir(parents=True)
        for part in ("options", "templates", "public"):
            (static / part).symlink_to(self.parts.gitea_assets / part)
        (conf / "app.ini").write_text(CONFIGURATION.format(user=_login(), port=self.port, static=static))

    def _create_administrator(self) -> None:
        identity = ["--username", ADMINISTRATOR, "--email", f"{ADMINISTRATOR}@example.test"]
        password = ["--password", f"{ADMINISTRATOR}-password-1", "--must-change-password=false"]
        self._command("admin", "user", "create", "--admin", *identity, *password)
        scopes = ["--scopes", "all", "--raw"]
        printed = self._command("admin", "user", "generate-access-token", "--username", ADMINISTRATOR, *scopes)
        self.token = printed.split()[-1]

    def _healthy(self) -> bool:
        self._processes.check()
        try:
            with urllib.request.urlopen(f"{self.url}/api/healthz", timeout=2) as answer:  # noqa: S310
                return bool(answer.status == 200)
        except urllib.error.HTTPError as error:
            error.close()
            return False
        except OSError:
            return False

    def _command(self, *args: str) -> str:
        """Run one of Gitea's administrative commands."""
        command = [str(self.parts.binary("gitea")), *args]
        done = subprocess.run(command, env=self._environment(), cwd=self.folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"gitea {' '.join(args[:3])}: {done.stdout.strip()} {done.stderr.strip()}")
        return done.stdout

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "GITEA_WORK_DIR": str(self.folder),
            "USER": _login(),
            "GITEA_I_AM_BEING_UNSAFE_RUNNING_AS_ROOT": "true",
        }


def _login() -> str:
    """Return the name of the user we run as: Gitea insists on running as its RUN_USER."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's arbitrary user id
        return os.environ.get("USER") or "git"


if __name__ == "__main__":
    with Gitea(find_parts(), Path(sys.argv[1])) as forge:
        print(f"{forge.url}  user {ADMINISTRATOR}  token {forge.token}", flush=True)
        with suppress(KeyboardInterrupt):
            signal.pause()
