"""What really restarts when a pod is evicted: one module per kind of controller, and what follows for a plan."""
