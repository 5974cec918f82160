"""Repack for Volcano, governed by pull requests."""

__version__ = "0.1.0"
