"""The volumes of a pod as local folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.testbed.kubelet_api import KubeletApi, ReferenceMissingError
from tests.testbed.nodes import Object
from tests.testbed.pod_environment import decoded
from tests.testbed.pod_fields import field_of

ACCOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"
DEFAULT_MODE = 0o644


class Volumes:
    """Materialises the volumes of one pod below one folder.

    Known are ``secret``, ``configMap``, ``projected``, ``downwardAPI`` and ``emptyDir``.
    """

    def __init__(self, pod: Object, folder: Path, api: KubeletApi) -> None:
        self._pod = pod
        self._folder = folder
        self._api = api

    def materialise(self) -> None:
        """Write all volumes.

        Raises
        ------
        ReferenceMissingError
            Something that is not optional does not exist yet.
        ValueError
            A volume is of a kind that the agent does not know.
        """
        for volume in self._pod["spec"].get("volumes") or []:
            target = self._folder / volume["name"]
            target.mkdir(parents=True, exist_ok=True)
            kind = next(key for key in volume if key != "name")
            if kind != "emptyDir":
                self._write(kind, volume[kind] or {}, target)

    def mounts_of(self, container: Object) -> dict[str, Path]:
        """Return the local path that stands for each of a container's mount paths."""
        mounts = container.get("volumeMounts") or []
        return {m["mountPath"].rstrip("/"): self._folder / m["name"] / m.get("subPath", "") for m in mounts}

    def _write(self, kind: str, source: Object, target: Path) -> None:
        mode = source.get("defaultMode") or DEFAULT_MODE
        if kind == "projected":
            for part in source.get("sources") or []:
                for part_kind, part_source in part.items():
                    self._write_files(part_kind, part_source, target, mode)
        else:
            self._write_files(kind, source, target, mode)

    def _write_files(self, kind: str, source: Object, target: Path, mode: int) -> None:
        for path, content, own_mode in self._files(kind, source):
            file = target / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            file.touch(mode=0o600)
            file.write_bytes(content)
            file.chmod(own_mode or mode)

    def _files(self, kind: str, source: Object) -> Iterable[tuple[str, bytes, int | None]]:
        """Return path, content and mode of every file that a source describes."""
        if kind == "serviceAccountToken":
            seconds = source.get("expirationSeconds", 3600)
            token = self._api.token(self._pod, audience=source.get("audience", ""), seconds=seconds)
            return [(source["path"], token.encode(), 0o600)]
        if kind == "downwardAPI":
            items = source.get("items") or []
            return [(i["path"], field_of(self._pod, i["fieldRef"]["fieldPath"]).encode(), i.get("mode")) for i in items]
        if kind in {"secret", "configMap"}:
            return self._keys(kind, source)
        raise ValueError(f"the agent does not know volumes of kind {kind}")

    def _keys(self, kind: str, source: Object) -> list[tuple[str, bytes, int | None]]:
        name = source.get("secretName") or source["name"]
        api_kind = {"secret": "Secret", "configMap": "ConfigMap"}[kind]
        try:
            keys = decoded(api_kind, self._api.data_of(api_kind, self._pod["metadata"]["namespace"], name))
            chosen = source.get("items") or [{"key": key, "path": key} for key in keys]
            missing = [item["key"] for item in chosen if item["key"] not in keys]
            if missing:
                raise ReferenceMissingError(f"{api_kind} {name} has no key {', '.join(missing)}")
        except ReferenceMissingError:
            if source.get("optional"):
                return []
            raise
        return [(item["path"], keys[item["key"]], item.get("mode")) for item in chosen]
