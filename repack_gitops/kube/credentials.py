"""Who we are to the API server: headers that stay valid while tokens rotate."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from repack_gitops.errors import Forbidden

#: The kubelet renews projected tokens long before they expire; client-go reads them again as often.
RELOAD_SECONDS = 60.0


class Credentials(Protocol):
    """The headers that authenticate a request."""

    def headers(self) -> Mapping[str, str]:
        """Return the headers, renewed if their time has come."""

    def renew(self) -> bool:
        """Read the credentials again after a 401; tell whether they are others now."""


class TokenFile:
    """A bearer token in a file that somebody else replaces: a projected service account token, or ``tokenFile``.

    Parameters
    ----------
    path
        The file.
    clock
        Seconds, monotonic.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        self._clock = clock
        self._token = self._read()
        self._read_at = clock()

    def headers(self) -> Mapping[str, str]:
        """Return the authorization header, with the token not older than a minute."""
        if self._clock() - self._read_at >= RELOAD_SECONDS:
            self.renew()
        return {"authorization": f"Bearer {self._token}"}

    def renew(self) -> bool:
        """Read the file again; tell whether it holds another token."""
        before, self._token, self._read_at = self._token, self._read(), self._clock()
        return self._token != before

    def _read(self) -> str:
        try:
            token = self._path.read_text().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Forbidden(f"cannot read the token file {self._path}: {error}", hint="Check the mount.") from error
        if not token:
            raise Forbidden(f"the token file {self._path} is empty", hint="Check the mount.")
        return token


class ClientCredentials:
    """Whatever the official client read from a kubeconfig: a token, a plug-in's, a password, or only a certificate."""

    def __init__(self, configuration: Any) -> None:
        self._configuration = configuration

    def headers(self) -> Mapping[str, str]:
        """Return the headers; the client runs the plug-in again when its token has expired."""
        try:
            settings = self._configuration.auth_settings().values()
        except Exception as error:  # whatever a plug-in, an identity provider or their libraries raise
            raise Forbidden(f"cannot renew the credentials of the kubeconfig: {error}", hint="Log in again.") from error
        return {s["key"]: s["value"] for s in settings if s["in"] == "header" and s["value"]}

    def renew(self) -> bool:
        """Nothing to read again: the client knows when its tokens expire."""
        return False


@dataclass(frozen=True, slots=True)
class Account:
    """An account at an API server, as a kubeconfig or a pod describes it.

    Attributes
    ----------
    configuration
        The official client's: address, certificates, proxy.
    credentials
        Who we are.
    headers
        Whom we act for, if for somebody else.
    """

    configuration: Any
    credentials: Credentials
    headers: Mapping[str, str] = field(default_factory=dict)
