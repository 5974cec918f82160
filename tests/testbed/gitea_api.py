"""What a test does on a running Gitea: users, repositories, protected branches, pull requests, merges."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import requests

from tests.testbed.waiting import wait_for

MergeStyle = Literal["merge", "rebase", "rebase-merge", "squash"]
ALL_SCOPES = ["all"]
MERGE_NOT_YET = {405, 409}  # Gitea looks for conflicts in the background after each push


class GiteaError(Exception):
    """Gitea refused a request."""

    def __init__(self, answer: requests.Response) -> None:
        self.status = answer.status_code
        super().__init__(f"{answer.request.method} {answer.request.url}: {answer.status_code} {answer.text.strip()}")


@dataclass(frozen=True)
class GiteaApi:
    """Gitea's REST API as one user sees it.

    Parameters
    ----------
    url
        Address of the forge, without a slash at its end.
    user
        Whose token it is.
    token
        Personal access token with every scope.
    """

    url: str
    user: str
    token: str

    @property
    def api_url(self) -> str:
        """Root of the REST API."""
        return f"{self.url}/api/v1"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send one request below ``/api/v1`` and return the decoded answer; None if it has no content.

        Raises
        ------
        GiteaError
            The answer's status is 400 or above.
        """
        headers = {"Authorization": f"token {self.token}"}
        answer = requests.request(method, self.api_url + path, json=body, headers=headers, timeout=30)
        if answer.status_code >= 400:
            raise GiteaError(answer)
        return answer.json() if answer.content else None

    def create_user(self, name: str) -> GiteaApi:
        """Return ``name``'s view of the forge with a new token, creating the user if need be; administrators only."""
        password = f"{name}-password-1"
        body = {"username": name, "password": password, "email": f"{name}@example.test", "must_change_password": False}
        self._unless_there("POST", "/admin/users", body)
        answer = requests.post(
            f"{self.api_url}/users/{name}/tokens",
            json={"name": uuid.uuid4().hex, "scopes": ALL_SCOPES},
            auth=(name, password),
            timeout=30,
        )
        if answer.status_code >= 400:
            raise GiteaError(answer)
        return replace(self, user=name, token=answer.json()["sha1"])

    def create_organization(self, name: str) -> None:
        """Create an organization owned by this user, unless it is there."""
        self._unless_there("POST", "/orgs", {"username": name})

    def create_repository(self, name: str, *, organization: str = "", private: bool = False) -> ForgeRepo:
        """Create a repository with one commit (README.md) on ``main``, in an organization or for this user."""
        owner = organization or self.user
        path = f"/orgs/{organization}/repos" if organization else "/user/repos"
        self.call("POST", path, {"name": name, "auto_init": True, "default_branch": "main", "private": private})
        return ForgeRepo(self, owner, name)

    def _unless_there(self, method: str, path: str, body: Any) -> None:
        try:
            self.call(method, path, body)
        except GiteaError as error:
            if error.status not in {409, 422} or "already exists" not in str(error):
                raise


@dataclass(frozen=True)
class ForgeRepo:
    """A repository on the forge, as the user of ``api`` sees it."""

    api: GiteaApi
    owner: str
    name: str

    @property
    def token(self) -> str:
        """Token of the user who looks at the repository."""
        return self.api.token

    @property
    def slug(self) -> str:
        """``owner/name``."""
        return f"{self.owner}/{self.name}"

    @property
    def url(self) -> str:
        """Address to clone from, without credentials."""
        return f"{self.api.url}/{self.slug}.git"

    @property
    def authenticated_url(self) -> str:
        """Address to clone from and push to, with the user's token inside."""
        return self.url.replace("://", f"://{self.api.user}:{self.token}@", 1)

    def seen_by(self, api: GiteaApi) -> ForgeRepo:
        """Return the same repository through another user's eyes."""
        return replace(self, api=api)

    def call(self, method: str, path: str = "", body: Any = None) -> Any:
        """Send one request below ``/repos/{owner}/{name}``; see `GiteaApi.call`."""
        return self.api.call(method, f"/repos/{self.slug}{path}", body)

    def clone(self, folder: Path, *, branch: str = "main") -> Path:
        """Clone ``branch`` into ``folder``, ready to commit and push as the user; return the folder."""
        self.git("clone", "--quiet", f"--branch={branch}", self.authenticated_url, str(folder))
        self.git("config", "user.name", self.api.user, cwd=folder)
        self.git("config", "user.email", f"{self.api.user}@example.test", cwd=folder)
        return folder

    def push_file(self, folder: Path, branch: str, path: str, text: str) -> str:
        """Commit one file in the clone ``folder`` on ``branch`` (made if need be), push, return the commit."""
        self.git("checkout", "--quiet", "-B", branch, cwd=folder)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
        self.git("add", "--", path, cwd=folder)
        self.git("commit", "--quiet", f"--message=Write {path}", cwd=folder)
        self.git("push", "--quiet", "origin", branch, cwd=folder)
        return self.git("rev-parse", "HEAD", cwd=folder).strip()

    def git(self, *args: str, cwd: Path | None = None) -> str:
        """Run git without the configuration of the user or the machine, and return what it printed.

        Raises
        ------
        RuntimeError
            It failed; the message is git's.
        """
        quiet = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | quiet
        done = subprocess.run(["git", *args], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"git {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def add_collaborator(self, user: str, permission: Literal["read", "write", "admin"] = "write") -> None:
        """Let another user read, write or administer the repository."""
        self.call("PUT", f"/collaborators/{user}", {"permission": permission})

    def protect_branch(
        self,
        branch: str = "main",
        *,
        approvals: int = 0,
        pushers: Sequence[str] = (),
        checks: Sequence[str] = (),
        **settings: Any,
    ) -> None:
        """Protect ``branch``.

        Parameters
        ----------
        branch
            Name of the branch.
        approvals
            How many approving reviews a merge needs.
        pushers
            Users who may push to the branch directly; nobody else may.
        checks
            Contexts of commit statuses that must be successful before a merge.
        settings
            Further fields of Gitea's ``CreateBranchProtectionOption``.
        """
        body = {
            "rule_name": branch,
            "required_approvals": approvals,
            "enable_push": bool(pushers),
            "enable_push_whitelist": bool(pushers),
            "push_whitelist_usernames": list(pushers),
            "enable_status_check": bool(checks),
            "status_check_contexts": list(checks),
            **settings,
        }
        self.call("POST", "/branch_protections", body)

    def open_pull_request(self, head: str, *, base: str = "main", title: str = "A change", body: str = "") -> int:
        """Open a pull request and return its number."""
        request = {"head": head, "base": base, "title": title, "body": body}
        return int(self.call("POST", "/pulls", request)["number"])

    def pull_request(self, number: int) -> dict[str, Any]:
        """Return a pull request as Gitea describes it."""
        found: dict[str, Any] = self.call("GET", f"/pulls/{number}")
        return found

    def approve(self, number: int, body: str = "") -> None:
        """Approve a pull request; use ``seen_by`` first, since nobody may approve their own."""
        self.call("POST", f"/pulls/{number}/reviews", {"event": "APPROVED", "body": body})

    def merge(self, number: int, style: MergeStyle = "merge", seconds: float = 15) -> str:
        """Merge a pull request and return the commit that is the base branch's new head.

        Raises
        ------
        GiteaError
            It may not be merged: a missing approval, a conflict, a red check.
        """
        wait_for(f"Gitea's look for conflicts in #{number}", lambda: self._merge_once(number, style, seconds), seconds)
        return str(self.pull_request(number)["merge_commit_sha"])

    def _merge_once(self, number: int, style: MergeStyle, seconds: float) -> bool:
        try:
            self.call("POST", f"/pulls/{number}/merge", {"Do": style})
        except GiteaError as error:
            if error.status in MERGE_NOT_YET and "try again later" in str(error).lower():
                return False
            raise
        return True
