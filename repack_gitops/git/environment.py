"""The environment git runs in: built from nothing, so that nothing of the caller's leaks in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

_PASSED_ON = (
    "PATH",
    "TMPDIR",
    # Proxies: curl reads the lower-case names, and the upper-case ones except HTTP_PROXY.
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    # Certificate authorities.
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
)


def clean_environment(caller: Mapping[str, str], home: Path, ca_file: Path | None = None) -> dict[str, str]:
    """Return git's environment: proxies and certificate authorities of ``caller``, everything else fixed."""
    passed = {name: caller[name] for name in _PASSED_ON if name in caller}
    fixed = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PROTOCOL_FROM_USER": "0",
    }
    return passed | fixed | ({"GIT_SSL_CAINFO": str(ca_file)} if ca_file else {})
