"""A session with one forge: retries, rate limits, spaced writes, pages, and refusals as errors that say what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from requests.utils import parse_header_links

from repack_gitops.errors import ForgeFailed, TryAgain
from repack_gitops.forge.patience import Patience
from repack_gitops.forge.refusals import refusal
from repack_gitops.forge.transport import Passing, Reply, Transport
from repack_gitops.model.redaction import Redactor

_MOST_PAGES = 400

Query = Mapping[str, str | int]


class HttpSession:
    """Speaks JSON with one server.

    Parameters
    ----------
    base_url
        What every path is appended to.
    token_header
        Name and value of the header that carries the token; sent to this server only.
    needs
        The permissions a token needs, for error messages.
    redactor
        Scrubs every string that is sent and every message that is shown.
    patience
        Time limits and retries.
    ca_file
        Certificate authorities to trust instead of the system's.
    """

    def __init__(
        self,
        base_url: str,
        *,
        token_header: tuple[str, str],
        needs: str,
        redactor: Redactor,
        patience: Patience | None = None,
        ca_file: Path | None = None,
    ) -> None:
        self._base, self._needs, self._redact = base_url.rstrip("/"), needs, redactor
        self._patience = patience or Patience()
        self._transport = Transport(token_header, self._patience, ca_file)
        self._last_write: float | None = None

    def close(self) -> None:
        """Close idle connections."""
        self._transport.session.close()

    def get(self, path: str, query: Query | None = None, *, expect: tuple[int, ...] = ()) -> Reply:
        """Ask for ``path``; statuses in ``expect`` are returned, all other failures raise."""
        return self._judged("GET", path, self._ask("GET", path, query, None, repeatable=True), expect)

    def write(
        self, method: str, path: str, content: Any = None, *, expect: tuple[int, ...] = (), repeatable: bool | None = None
    ) -> Reply:
        """Change something, no sooner than the write gap allows.

        Parameters
        ----------
        method, path, content
            The request; every string in ``content`` is scrubbed.
        expect
            Statuses from 400 that are returned instead of raised.
        repeatable
            Whether doing it twice is as good as once; None: for every method but POST.

        Raises
        ------
        TryAgain
            The forge cannot be reached, is overloaded, or asks for more patience than there is. A request that is
            not repeatable may have been carried out all the same.
        ForgeFailed
            The forge refused.
        """
        twice = method != "POST" if repeatable is None else repeatable
        reply = self._ask(method, path, None, self._scrubbed(content), repeatable=twice)
        return self._judged(method, path, reply, expect)

    def pages(self, path: str, query: Query | None = None, *, page_size: int = 50) -> Iterator[Any]:
        """Yield the items of all pages of a list, asking for a page only when it is needed."""
        wanted: Query = {**(query or {}), "limit": page_size, "per_page": page_size, "page": 1}
        for _ in range(_MOST_PAGES):
            reply = self.get(path, wanted)
            if not isinstance(reply.content, list):
                raise ForgeFailed(f"GET {self._base}{path} did not answer with a list", hint="Check the forge's version.")
            yield from reply.content
            following = _next_query(reply.headers)
            if not following:
                return
            wanted = {**wanted, **following}
        raise ForgeFailed(f"GET {self._base}{path} has more than {_MOST_PAGES} pages", hint="Ask for less.")

    def _ask(self, method: str, path: str, query: Query | None, content: Any, *, repeatable: bool) -> Reply:
        waited, attempt, request = 0.0, 1, f"{method} {self._base}{path}"
        while True:
            self._mind_the_gap(method)
            outcome = self._transport.send(method, self._base + path, query, content)
            if isinstance(outcome, Reply):
                return outcome
            if not (repeatable or outcome.harmless):
                raise self._unsure(request, outcome)
            wait = self._patience.backoff(attempt) if outcome.wait is None else outcome.wait
            if attempt == self._patience.attempts or waited + wait > self._patience.longest_wait:
                raise self._enough(request, attempt, outcome)
            self._patience.sleep(wait)
            waited, attempt = waited + wait, attempt + 1

    def _judged(self, method: str, path: str, reply: Reply, expect: tuple[int, ...]) -> Reply:
        if reply.status < 400 or reply.status in expect:
            return reply
        raise refusal(reply.status, self._redact(f"{method} {self._base}{path}"), self._redact(reply.message), self._needs)

    def _mind_the_gap(self, method: str) -> None:
        if method == "GET":
            return
        now = self._patience.clock()
        if self._last_write is not None and (left := self._last_write + self._patience.write_gap - now) > 0:
            self._patience.sleep(left)
        self._last_write = self._patience.clock()

    def _unsure(self, request: str, outcome: Passing) -> TryAgain:
        return TryAgain(
            self._redact(f"{request} failed and may have been carried out all the same: {outcome.reason}"),
            hint="The next run looks at the forge again before it writes.",
        )

    def _enough(self, request: str, attempts: int, outcome: Passing) -> TryAgain:
        asked = f"; the forge asks to wait {outcome.wait:.0f} s" if outcome.wait else ""
        return TryAgain(
            self._redact(f"{request} failed, tried {attempts} times: {outcome.reason}{asked}"),
            hint="Check the forge, the network and the token's rate limit; the next run tries again.",
        )

    def _scrubbed(self, content: Any) -> Any:
        match content:
            case str():
                return self._redact(content)
            case dict():
                return {key: self._scrubbed(value) for key, value in content.items()}
            case list() | tuple():
                return [self._scrubbed(value) for value in content]
            case _:
                return content


def _next_query(headers: Mapping[str, str]) -> dict[str, str]:
    # Only the query of the link counts: a forge behind another address still links to its public one.
    links = parse_header_links(headers["link"]) if headers.get("link") else []
    following = [link["url"] for link in links if link.get("rel") == "next"]
    return dict(parse_qsl(urlsplit(following[0]).query)) if following else {}
