"""Benchmarks: they print a table and save JSON; nothing here is a test."""
