"""PodDisruptionBudgets as the Eviction API applies them: which select a pod, what forbids it, what a plan will meet."""
