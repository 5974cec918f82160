"""Sockets that notice a dead peer: a watch is silent for long, and would wait for a machine that is gone."""

from __future__ import annotations

import socket

#: (level, option, value). A dead peer is noticed after 10 s of silence and 3 unanswered probes, 5 s apart.
SOCKET_OPTIONS: list[tuple[int, int, int]] = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, option), value)
        for option, value in (("TCP_KEEPIDLE", 10), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
        if hasattr(socket, option)  # named otherwise outside Linux
    ),
]
