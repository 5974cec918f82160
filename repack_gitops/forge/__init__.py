"""Forges: pull requests, comments, labels, reviews and commit statuses over their REST APIs."""
