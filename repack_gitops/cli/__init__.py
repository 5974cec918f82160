"""Commands: parse, call one workflow, print, exit code."""
