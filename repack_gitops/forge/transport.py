"""One HTTP exchange: bounded in time and size; the token goes to its own server and nowhere else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.auth import AuthBase
from requests.exceptions import ConnectionError as NoConnection
from requests.exceptions import ConnectTimeout, RequestException, SSLError
from urllib3.exceptions import MaxRetryError, NewConnectionError

from repack_gitops.errors import ForgeFailed
from repack_gitops.forge.limits import is_limit, wait_asked_for, wait_for_limit
from repack_gitops.forge.patience import Patience
from repack_gitops.forge.refusals import told

_MOST_REDIRECTS = 3
_CHUNK = 1 << 16
_REDIRECTS = (301, 302, 303, 307, 308)
_KEEPS_METHOD = (307, 308)
_NOT_PROCESSED = (408, 425)
_WRONG_URL = "Check the forge's URL in repack.yaml: a login page or a proxy may be answering."


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer; ``content`` is its decoded JSON or None; names of ``headers`` are in lower case."""

    status: int
    content: Any
    headers: Mapping[str, str]
    message: str = ""


@dataclass(frozen=True, slots=True)
class Passing:
    """A failure that may pass; ``harmless`` if the forge certainly did not act; ``wait`` if it said how long."""

    reason: str
    harmless: bool
    wait: float | None = None


@dataclass(frozen=True)
class Transport:
    """Sends single requests.

    Parameters
    ----------
    token_header
        Name and value of the header that carries the token.
    patience
        Time limits.
    ca_file
        Certificate authorities to trust instead of the system's.
    """

    token_header: tuple[str, str] = field(repr=False)
    patience: Patience
    ca_file: Path | None = None
    session: requests.Session = field(default_factory=requests.Session, repr=False)

    def send(self, method: str, url: str, query: Mapping[str, str | int] | None, content: Any) -> Reply | Passing:
        """Send one request, following redirects on the same server only.

        Raises
        ------
        ForgeFailed
            The certificate is not trusted, the server redirects elsewhere, or answers something that is not JSON.
        """
        for _ in range(_MOST_REDIRECTS + 1):
            try:
                with self._open(method, url, query, content) as response:
                    target = _redirect(method, url, response)
                    if target is None:
                        return self._read(method, url, response)
            except (RequestException, OSError) as error:
                if isinstance(error, SSLError) and "certificate" in str(error).lower():
                    raise _untrusted(url, error) from error
                return Passing(_reason(error), harmless=_never_sent(error))
            url, query = target, None
        raise ForgeFailed(f"{method} {url} is redirected in circles", hint=_WRONG_URL)

    def _open(self, method: str, url: str, query: Mapping[str, str | int] | None, content: Any) -> requests.Response:
        return self.session.request(
            method,
            url,
            params=query,
            json=content,
            headers={"Accept": "application/json", "User-Agent": "repack-gitops"},
            # As `auth` rather than as a header: requests would replace a header by what ~/.netrc says.
            auth=_Token(*self.token_header),
            timeout=(self.patience.connect, self.patience.read),
            verify=str(self.ca_file) if self.ca_file else True,
            allow_redirects=False,
            stream=True,
        )

    def _read(self, method: str, url: str, response: requests.Response) -> Reply | Passing:
        body = self._body(response)
        if isinstance(body, Passing):
            return body
        headers = {name.lower(): value for name, value in response.headers.items()}
        is_json, content = _decoded(body)
        message = told(content, body.decode("utf-8", "replace"))
        passing = self._passing(response.status_code, headers, message)
        if passing:
            return passing
        if response.status_code < 400 and body.strip() and not is_json:
            if "json" in headers.get("content-type", ""):
                return Passing("the answer is incomplete JSON", harmless=False)
            raise ForgeFailed(f"{method} {url} did not answer with JSON", hint=_WRONG_URL)
        return Reply(response.status_code, content, headers, message)

    def _body(self, response: requests.Response) -> bytes | Passing:
        body, deadline = bytearray(), self.patience.clock() + self.patience.whole_answer
        for piece in response.iter_content(_CHUNK):
            body += piece
            if len(body) > self.patience.largest_answer:
                raise ForgeFailed(f"{response.url} answered more than {self.patience.largest_answer} bytes", hint=_WRONG_URL)
            if self.patience.clock() > deadline:
                return Passing(f"the answer took longer than {self.patience.whole_answer:g} s", harmless=False)
        return bytes(body)

    def _passing(self, status: int, headers: Mapping[str, str], message: str) -> Passing | None:
        now = self.patience.now()
        if is_limit(status, headers, message):
            return Passing(f"{status} rate limit: {message}", harmless=True, wait=wait_for_limit(headers, now))
        if status >= 500 or status in _NOT_PROCESSED:
            return Passing(f"{status} {message}", harmless=status in _NOT_PROCESSED, wait=wait_asked_for(headers, now))
        return None


class _Token(AuthBase):
    def __init__(self, name: str, value: str) -> None:
        self._name, self._value = name, value

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers[self._name] = self._value
        return request


def _redirect(method: str, url: str, response: requests.Response) -> str | None:
    location = response.headers.get("location")
    if response.status_code not in _REDIRECTS or not location:
        return None
    target = urljoin(url, location)
    if _server(target) != _server(url):
        raise ForgeFailed(
            f"{url} redirects to another server, {target}; the token is not sent there",
            hint="If that is where the forge is now, put its URL into repack.yaml.",
        )
    if method != "GET" and response.status_code not in _KEEPS_METHOD:
        raise ForgeFailed(f"{method} {url} is redirected to {target}", hint="Put the new URL or name into repack.yaml.")
    return target


def _server(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _decoded(body: bytes) -> tuple[bool, Any]:
    try:
        return True, json.loads(body)
    except (ValueError, RecursionError):
        return False, None


def _untrusted(url: str, error: SSLError) -> ForgeFailed:
    return ForgeFailed(
        f"the certificate of {_server(url)[1]} is not trusted: {error}",
        hint="Give the certificate authority of the forge as CA file.",
    )


def _never_sent(error: Exception) -> bool:
    reason = getattr(error.args[0], "reason", None) if error.args and isinstance(error.args[0], MaxRetryError) else None
    return isinstance(error, ConnectTimeout) or (isinstance(error, NoConnection) and isinstance(reason, NewConnectionError))


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
