"""Frozen facts: cluster, run, plan, policy; no I/O, no clock, no search."""
