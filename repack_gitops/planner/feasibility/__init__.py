"""One module per scheduler filter; each answers with a Reason or None."""
