"""Moments as files and clusters write them."""

from __future__ import annotations

from datetime import datetime


def aware_moment(text: str) -> datetime | None:
    """Return RFC 3339 ``text`` as a moment; None where it is none, or has no zone and so names no moment."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None
