"""A throw-away certificate authority, the server certificate of the bed, and the key that signs service-account tokens."""

from __future__ import annotations

import subprocess
from pathlib import Path

DAYS = "30"
SUBJECTS = "subjectAltName=DNS:localhost,DNS:kubernetes,IP:127.0.0.1\n"


def make_certificates(folder: Path, authority: str) -> None:
    """Write ``ca.{key,crt}``, ``server.{key,crt}`` and ``sa.key`` into ``folder``.

    Parameters
    ----------
    folder
        Created if need be.
    authority
        Common name of the authority; different for every bed, so that no client mixes them up.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "san").write_text(SUBJECTS)
    _openssl(folder, "genrsa -out sa.key 2048")
    _openssl(folder, f"req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.crt -days {DAYS} -subj /CN={authority}")
    _openssl(folder, "req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=127.0.0.1")
    signing = "-CA ca.crt -CAkey ca.key -CAcreateserial -extfile san"
    _openssl(folder, f"x509 -req -in server.csr {signing} -out server.crt -days {DAYS}")


def _openssl(folder: Path, command: str) -> None:
    subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
