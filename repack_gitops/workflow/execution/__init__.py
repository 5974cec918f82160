"""One approved run: locked, re-planned, journalled, evicted node by node, followed, verified."""
