"""From text to plain data with the position of every field; YAML and JSON, bounded and without surprises."""
