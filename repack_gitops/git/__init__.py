"""Git, through one choke point: plumbing on refs, no working tree, nothing of a repository's own config is run."""
