"""A private directory for one repository: git's HOME, the askpass program, temporary files."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from repack_gitops.git.command import Git
from repack_gitops.git.credentials import Credentials, write_askpass
from repack_gitops.git.remote import Remote
from repack_gitops.git.settings import Settings
from repack_gitops.git.store import Store, create_store
from repack_gitops.model.redaction import Redactor


@dataclass(frozen=True)
class Workshop:
    """The place and the tools; ``close`` removes the place."""

    place: tempfile.TemporaryDirectory[str]
    git: Git
    credentials: Credentials | None
    askpass: Path
    settings: Settings

    @property
    def area(self) -> Path:
        """The private directory."""
        return Path(self.place.name)

    def remote(self, url: str) -> Remote:
        """Return the remote at ``url``."""
        return Remote(self.git, url, self.credentials, self.askpass, self.settings)

    def store(self, directory: Path | None, object_format: str) -> Store:
        """Create an empty store in ``directory``, or here if it is None."""
        where = self.area / "store" if directory is None else directory.absolute()
        return create_store(self.git, where, self.area, object_format, self.settings.local_timeout)

    def close(self) -> None:
        """Remove everything; may be called twice."""
        self.place.cleanup()


def set_up(credentials: Credentials | None, redactor: Redactor | None, settings: Settings | None) -> Workshop:
    """Return a workshop with a git that is new enough."""
    # Readable by this user only: mkdtemp makes it so.
    place = tempfile.TemporaryDirectory(prefix="repack-git-", ignore_cleanup_errors=True)
    chosen, area = settings or Settings(), Path(place.name)
    known = (redactor or Redactor()).also(credentials.token) if credentials else (redactor or Redactor())
    git = Git(area, known, chosen.executable, chosen.ca_file)
    workshop = Workshop(place, git, credentials, write_askpass(area), chosen)
    try:
        git.check_version()
    except BaseException:
        workshop.close()
        raise
    return workshop
