"""The whole circle on real parts: CronJob, pull request, merge, Job, evictions, result."""
