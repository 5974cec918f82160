"""Where the compiled parts of the test bed are, and which set of them belongs to this checkout."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path

MODULES = Path(__file__).resolve().parent / "modules"
BUILD_FLAGS = ("-mod=readonly", "-trimpath", "-buildvcs=false", "-ldflags=-s -w")
MARKER = ".complete"
NO_OPENSSL = "the control plane's certificates come from it (Debian: apt-get install openssl)"


class PartsMissingError(Exception):
    """The binaries are not built; the message says how to build them."""


@dataclass(frozen=True)
class Target:
    """One binary: the module that pins it, its package, and what its build needs beyond ``BUILD_FLAGS``."""

    name: str
    module: str
    package: str
    flags: tuple[str, ...] = ()


TARGETS = (
    Target("etcd", "etcd", "go.etcd.io/etcd/server/v3"),
    Target("kube-apiserver", "kubernetes", "k8s.io/kubernetes/cmd/kube-apiserver"),
    Target("kube-controller-manager", "kubernetes", "k8s.io/kubernetes/cmd/kube-controller-manager"),
    Target("kube-scheduler", "kubernetes", "k8s.io/kubernetes/cmd/kube-scheduler"),
    Target("kubectl", "kubernetes", "k8s.io/kubernetes/cmd/kubectl"),
    Target("kwok", "kwok", "sigs.k8s.io/kwok/cmd/kwok"),
    Target("vc-scheduler", "volcano", "volcano.sh/volcano/cmd/scheduler"),
    Target("vc-controller-manager", "volcano", "volcano.sh/volcano/cmd/controller-manager"),
    Target("vc-webhook-manager", "volcano", "volcano.sh/volcano/cmd/webhook-manager"),
    Target("gitea", "gitea", "code.gitea.io/gitea", ("-tags=sqlite sqlite_unlock_notify",)),
)


@dataclass(frozen=True)
class Recorded:
    """Files of a module's sources that the bed reads at run time, copied so that running needs no Go."""

    module: str
    path: str
    source: str
    target: str


RECORDED = (
    Recorded("volcano", "volcano.sh/volcano", "config/crd/volcano/bases", "volcano/crds"),
    Recorded("volcano", "volcano.sh/volcano", "config/crd/jobflow/bases", "volcano/crds"),
    Recorded("volcano", "volcano.sh/volcano", "installer/volcano-development.yaml", "volcano/manifest.yaml"),
    Recorded("kwok", "sigs.k8s.io/kwok", "kustomize/stage/node/fast/node-initialize.yaml", "kwok/1-node-initialize.yaml"),
    Recorded("kwok", "sigs.k8s.io/kwok", "kustomize/stage/pod/fast/pod-ready.yaml", "kwok/2-pod-ready.yaml"),
    Recorded("kwok", "sigs.k8s.io/kwok", "kustomize/stage/pod/fast/pod-delete.yaml", "kwok/3-pod-delete.yaml"),
    Recorded("gitea", "code.gitea.io/gitea", "options", "gitea/options"),
    Recorded("gitea", "code.gitea.io/gitea", "templates", "gitea/templates"),
    Recorded("gitea", "code.gitea.io/gitea", "public", "gitea/public"),
)


@dataclass(frozen=True)
class Parts:
    """A complete set of binaries and the files that they need."""

    folder: Path

    def binary(self, name: str) -> Path:
        """Return the path of the binary ``name``, such as ``kubectl``."""
        return self.folder / "bin" / name

    @property
    def volcano_crds(self) -> Path:
        """Folder of Volcano's CustomResourceDefinitions."""
        return self.folder / "volcano/crds"

    @property
    def volcano_manifest(self) -> Path:
        """The manifest that Volcano ships for an installation."""
        return self.folder / "volcano/manifest.yaml"

    @property
    def kwok_stages(self) -> list[Path]:
        """Return the stages that KWOK plays: nodes become Ready, pods run until they are deleted."""
        return sorted((self.folder / "kwok").glob("*.yaml"))

    @property
    def gitea_assets(self) -> Path:
        """Folder with Gitea's ``options``, ``templates`` and ``public``."""
        return self.folder / "gitea"


def cache_root() -> Path:
    """Return the folder of the user's cache that belongs to the test bed."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(configured) if configured.startswith("/") else Path.home() / ".cache"
    return base / "repack-gitops" / "testbed"


def fingerprint() -> str:
    """Return a hash of everything that decides what is built, but for the Go version."""
    digest = hashlib.sha256(repr((BUILD_FLAGS, TARGETS, RECORDED, platform.machine())).encode())
    for file in sorted(MODULES.glob("*/go.*")):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(MODULES)} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def folder_for(go_minor: str) -> Path:
    """Return the folder for this checkout's parts, built with Go ``go_minor`` such as ``1.26``."""
    return cache_root() / f"{fingerprint()}-go{go_minor}"


def find_parts() -> Parts:
    """Return the parts of this checkout; no Go is needed for that.

    Raises
    ------
    PartsMissingError
        No complete set is in the user's cache, or a program that it needs is not installed.
    """
    if not shutil.which("openssl"):
        raise PartsMissingError(f"openssl is missing: {NO_OPENSSL}")
    found = sorted(cache_root().glob(f"{fingerprint()}-go*/{MARKER}"))
    if not found:
        problem = os.environ.get("REPACK_TESTBED_PROBLEM") or "run: python -m tests.testbed.build"
        raise PartsMissingError(f"the test bed is not built: {problem}")
    return Parts(found[-1].parent)
