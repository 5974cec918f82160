"""One API server over HTTP: raw bodies in bounded time, reads tried again, writes never.

The official client knows kubeconfigs, certificates and proxies, so its connection pool is used; its models are not, since
decoding 50,000 pods into them takes minutes and gigabytes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import urlencode

import msgspec
import urllib3
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential, wait_random
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError, SSLError

from repack_gitops import __version__
from repack_gitops.errors import ClusterUnavailable
from repack_gitops.kube.answers import Answer, NoAnswer, PassingFailure, failure
from repack_gitops.kube.credentials import Credentials

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"

_CHUNK = 2**16
_OBJECT = re.compile(r"^(<[^>]*>|\w+\([^)]*\)): ")
_MAX_WAIT = 10.0
_backoff = wait_exponential(multiplier=0.25, max=_MAX_WAIT) + wait_random(0, 0.5)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Bounds of one call, in seconds: to connect, between two pieces of an answer, and for all of it."""

    connect: float = 5.0
    read: float = 30.0
    whole: float = 120.0


@dataclass(frozen=True, slots=True)
class Request:
    """One call; ``what`` names verb and object for messages: ``evict pods team/worker-0``."""

    what: str
    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    content_type: str = JSON
    compressed: bool = False


class ApiServer:
    """Sends requests as one account.

    Parameters
    ----------
    pool
        The official client's connection pool: certificates and proxies are its business.
    address
        ``https://host:port`` with or without a path.
    credentials
        Who we are.
    headers
        Sent with every request, such as those of an impersonation.
    timeouts
        Bounds of every call.
    read_attempts
        How often a read is tried in all.
    sleep
        Waits between attempts.
    """

    def __init__(
        self,
        pool: urllib3.PoolManager,
        address: str,
        credentials: Credentials,
        *,
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        read_attempts: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address.rstrip("/")
        self._pool = pool
        self._credentials = credentials
        self._headers = {"user-agent": f"repack-gitops/{__version__}", "accept": JSON, **(headers or {})}
        self._timeouts = timeouts or Timeouts()
        self._attempts = read_attempts
        self._sleep = sleep

    def close(self) -> None:
        """Close all idle connections."""
        self._pool.clear()

    def send(self, request: Request) -> Answer:
        """Send ``request`` once and return the answer, whatever its status.

        Raises
        ------
        NoAnswer
            The connection broke or timed out.
        ClusterUnavailable
            The server's certificate is not trusted.
        """
        answer = self._send(request)
        if answer.code == 401 and self._credentials.renew():
            answer = self._send(request)  # a 401 is refused before anything happens, so this repeats no write
        return answer

    def read(self, request: Request, *expected: int) -> Answer:
        """Send a read, again if it fails in passing; the answer has status 200 or one of ``expected``.

        Raises
        ------
        RepackError
            Any other answer, or none.
        """
        return self._retrying()(self._read_once, request, expected)

    @contextmanager
    def stream(self, request: Request, silence: float) -> Iterator[Iterator[bytes]]:
        """Open an answer of unknown length; yields its pieces as they arrive, at most ``silence`` seconds apart.

        Raises
        ------
        NoAnswer
            The connection broke or timed out.
        RepackError
            The server refused.
        """
        response = self._retrying()(self._open, request, silence)
        with self._reading(response, request):
            yield iter(lambda: response.read1(_CHUNK), b"")

    def _retrying(self) -> Retrying:
        return Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=_wait,
            retry=retry_if_exception_type(PassingFailure),
            sleep=self._sleep,
            reraise=True,
        )

    def _read_once(self, request: Request, expected: tuple[int, ...]) -> Answer:
        answer = self.send(request)
        if answer.code != 200 and answer.code not in expected:
            raise failure(answer, request.what)
        return answer

    def _open(self, request: Request, silence: float) -> BaseHTTPResponse:
        response = self._start(request, silence)
        if response.status == 200:
            return response
        raise failure(self._finish(response, request), request.what)

    def _send(self, request: Request) -> Answer:
        return self._finish(self._start(request, self._timeouts.read), request)

    def _finish(self, response: BaseHTTPResponse, request: Request) -> Answer:
        deadline = time.monotonic() + self._timeouts.whole
        body = bytearray()
        with self._reading(response, request):
            while piece := response.read1(_CHUNK):
                body += piece
                if time.monotonic() > deadline:
                    raise HTTPError(f"the answer took longer than {self._timeouts.whole:g} s")
        return Answer(response.status, bytes(body), {name.lower(): value for name, value in response.headers.items()})

    def _start(self, request: Request, silence: float) -> BaseHTTPResponse:
        try:
            return self._pool.request(
                request.method,
                self._url(request),
                body=None if request.body is None else msgspec.json.encode(request.body),
                headers=self._request_headers(request),
                timeout=urllib3.Timeout(connect=self._timeouts.connect, read=silence),
                preload_content=False,
                retries=False,
                redirect=False,
            )
        except SSLError as error:
            raise self._untrusted(error, request) from error
        except (HTTPError, OSError) as error:
            raise self._no_answer(error, request) from error

    @contextmanager
    def _reading(self, response: BaseHTTPResponse, request: Request) -> Iterator[None]:
        try:
            yield
        except (HTTPError, OSError) as error:
            raise self._no_answer(error, request) from error
        finally:
            if not response.closed:
                response.close()  # not read to its end: the connection cannot be used again

    def _url(self, request: Request) -> str:
        query = f"?{urlencode(request.query)}" if request.query else ""
        return f"{self.address}{request.path}{query}"

    def _request_headers(self, request: Request) -> dict[str, str]:
        content = {} if request.body is None else {"content-type": request.content_type}
        packed = {"accept-encoding": "gzip"} if request.compressed else {}
        return {**self._headers, **self._credentials.headers(), **content, **packed}

    def _no_answer(self, error: Exception, request: Request) -> NoAnswer:
        return NoAnswer(
            f"cannot {request.what}: no answer from the API server {self.address}: {_reason(error)}",
            hint="Check the server of the kubeconfig, the network, and HTTPS_PROXY and NO_PROXY.",
        )

    def _untrusted(self, error: Exception, request: Request) -> ClusterUnavailable:
        return ClusterUnavailable(
            f"cannot {request.what}: the certificate of {self.address} is not accepted: {_reason(error)}",
            hint="Check certificate-authority-data and tls-server-name of the kubeconfig.",
        )


def _reason(error: Exception) -> str:
    """Return what an exception says, without the objects that urllib3 prints before it."""
    return _OBJECT.sub("", str(error))


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.wait if isinstance(error, PassingFailure) else 0
    return min(max(float(asked), float(_backoff(state))), _MAX_WAIT)
