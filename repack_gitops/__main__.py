"""``python -m repack_gitops`` is ``repack``."""

from repack_gitops.cli.main import main

main()
