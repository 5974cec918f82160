"""Example clusters and runs; ``python -m examples.generate`` makes the clusters."""
