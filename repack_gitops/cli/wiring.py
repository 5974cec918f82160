"""Which adapters a command works on: chosen here, once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from repack_gitops.cli.clock import SystemClock
from repack_gitops.cli.options import RepositoryChoice
from repack_gitops.cli.secrets import TOKEN, remember
from repack_gitops.errors import InvalidInput
from repack_gitops.files.documents import read_document
from repack_gitops.forge.kinds import open_forge
from repack_gitops.git.credentials import Credentials
from repack_gitops.git.repository import GitRepository
from repack_gitops.git.settings import Settings
from repack_gitops.kube.client import LiveCluster, connect
from repack_gitops.model.redaction import Redactor
from repack_gitops.workflow.books import base_books
from repack_gitops.workflow.ports import Ports


@contextmanager
def connect_cluster(kubeconfig: Path | None, context: str | None) -> Iterator[LiveCluster]:
    """Yield the live cluster; its connections are closed afterwards."""
    cluster = connect(kubeconfig, context)
    try:
        yield cluster
    finally:
        cluster.close()


@contextmanager
def open_ports(choice: RepositoryChoice, kubeconfig: Path | None, context: str | None) -> Iterator[Ports]:
    """Yield the cluster, the repository and its forge as repack.yaml on the base branch names it."""
    token = _token(choice)
    remember(token)
    redactor = Redactor([token] if token else [])
    with ExitStack() as opened:
        cluster = opened.enter_context(connect_cluster(kubeconfig, context))
        repository = opened.enter_context(_repository(choice, token, redactor))
        wanted = base_books(repository, choice.branch).config().spec.forge
        forge = open_forge(wanted.kind, wanted.url, wanted.repository, token, redactor=redactor, ca_file=choice.ca_file)
        yield Ports(cluster, repository, forge, SystemClock())


def _repository(choice: RepositoryChoice, token: str, redactor: Redactor) -> GitRepository:
    """Return the repository that was asked for; only the server of its own URL ever sees the token."""
    settings = Settings(ca_file=choice.ca_file)
    if choice.repository is not None and choice.git_url:
        raise InvalidInput("both --repository and --git-url are given", hint="Give one of them.")
    if choice.git_url:
        credentials = Credentials.for_url(choice.git_url, token) if token else None
        return GitRepository.clone(
            choice.git_url, branch=choice.branch, credentials=credentials, redactor=redactor, settings=settings
        )
    return GitRepository.open(choice.repository or Path.cwd(), token=token, redactor=redactor, settings=settings)


def _token(choice: RepositoryChoice) -> str:
    """Return the forge's token, from the file if one is named, else from the environment; never from an argument."""
    if choice.token_file is not None:
        return read_document(choice.token_file).decode(errors="replace").strip()
    return os.environ.get(TOKEN, "").strip()
