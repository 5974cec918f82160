"""Pure policy: digests, envelopes, guardrails, names."""
