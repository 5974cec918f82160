"""Files on disk: bounded reading, atomic writing, snapshot Lists."""
