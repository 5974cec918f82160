"""Where the address and the credentials come from, with the official client of this installation."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from repack_gitops.errors import Forbidden, InvalidInput
from repack_gitops.kube.api_server import ApiServer, Request
from repack_gitops.kube.client import connect
from repack_gitops.kube.connect import open_api_server
from repack_gitops.kube.credentials import ClientCredentials
from tests.unit.kube.fake_api import FakeApi, Reply

READ = Request("get things", "GET", "/things")


@pytest.fixture(autouse=True)
def _no_other_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, fake: FakeApi) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    fake.answer(Reply(200, {}))


def write_config(file: Path, fake: FakeApi, user: dict[str, Any] | None = None, name: str = "a", **cluster: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": fake.address, **cluster}}],
        "users": [{"name": name, "user": user or {}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
    }
    file.write_text(json.dumps(document))
    return file


def sent(api: ApiServer, fake: FakeApi) -> dict[str, str]:
    api.read(READ)
    api.close()
    return fake.seen[-1].headers


def test_a_token_of_a_kubeconfig_is_sent(fake: FakeApi, tmp_path: Path) -> None:
    api = open_api_server(write_config(tmp_path / "config", fake, {"token": "abc"}))
    assert api.address == fake.address
    assert sent(api, fake)["authorization"] == "Bearer abc"


def test_connect_makes_a_cluster(fake: FakeApi, tmp_path: Path) -> None:
    with connect(write_config(tmp_path / "config", fake), as_user="jane") as cluster:
        assert cluster.address == fake.address
        assert cluster.get_config_map("a", "b") == {}
    assert fake.seen[-1].headers["impersonate-user"] == "jane"


def test_a_password_of_a_kubeconfig_is_sent(fake: FakeApi, tmp_path: Path) -> None:
    api = open_api_server(write_config(tmp_path / "config", fake, {"username": "u", "password": "p"}))
    assert sent(api, fake)["authorization"] == "Basic dTpw"


def test_a_token_file_is_relative_to_its_kubeconfig_and_wins(fake: FakeApi, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    api = open_api_server(write_config(tmp_path / "config", fake, {"tokenFile": "token", "token": "stale"}))
    assert sent(api, fake)["authorization"] == "Bearer from-file"


def test_a_kubeconfigs_impersonation_is_honoured(fake: FakeApi, tmp_path: Path) -> None:
    """The official client ignores it, and would act with more rights than the file grants."""
    headers = sent(open_api_server(write_config(tmp_path / "config", fake, {"as": "jane", "as-uid": "7"})), fake)
    assert (headers["impersonate-user"], headers["impersonate-uid"]) == ("jane", "7")


def test_an_impersonation_we_cannot_do_is_refused(fake: FakeApi, tmp_path: Path) -> None:
    config = write_config(tmp_path / "config", fake, {"as": "jane", "as-groups": ["readers"]})
    with pytest.raises(InvalidInput, match="as-groups is not supported"):
        open_api_server(config)


def plug_in(folder: Path, script: str) -> dict[str, Any]:
    file = folder / "plug-in"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(stat.S_IRWXU)
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(file), "interactiveMode": "Never"}}


def test_a_credential_plug_in_is_run(fake: FakeApi, tmp_path: Path) -> None:
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}
    config = write_config(tmp_path / "config", fake, plug_in(tmp_path, f"echo '{json.dumps(answer)}'"))
    assert sent(open_api_server(config), fake)["authorization"] == "Bearer t"


def test_a_credential_plug_in_that_fails_is_an_error(fake: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The official client would go on as nobody."""
    config = write_config(tmp_path / "config", fake, plug_in(tmp_path, "echo log in first >&2; exit 3"))
    with pytest.raises(Forbidden, match=r"plug-in .* gave no credentials: exec: process returned 3. log in first"):
        open_api_server(config)
    assert capsys.readouterr().err == ""


def test_kubeconfig_may_list_files_and_some_may_be_missing(fake: FakeApi, tmp_path: Path) -> None:
    one = write_config(tmp_path / "one", fake, {"token": "1"}, name="one")
    two = write_config(tmp_path / "two", fake, {"token": "2"}, name="two")
    environment = {"KUBECONFIG": os.pathsep.join(map(str, (tmp_path / "missing", one, two)))}
    assert sent(open_api_server(context="two", environment=environment), fake)["authorization"] == "Bearer 2"
    assert sent(open_api_server(context="one", environment=environment), fake)["authorization"] == "Bearer 1"


def test_the_kubeconfig_at_home_is_found(fake: FakeApi, tmp_path: Path) -> None:
    write_config(tmp_path / "home/.kube/config", fake, {"token": "home"})
    assert sent(open_api_server(), fake)["authorization"] == "Bearer home"


def test_a_kubeconfig_is_never_written(fake: FakeApi, tmp_path: Path) -> None:
    config = write_config(tmp_path / "config", fake, {"token": "abc"})
    before = config.read_bytes(), config.stat().st_mtime_ns
    sent(open_api_server(config), fake)
    assert (config.read_bytes(), config.stat().st_mtime_ns) == before


def test_a_pod_uses_its_service_account(fake: FakeApi, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("sa-token\n")
    (tmp_path / "ca.crt").write_text("certificate")
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    api = open_api_server(environment=environment, service_account=tmp_path)
    assert api.address == "https://[fd00::1]:443"
    assert api._credentials.headers() == {"authorization": "Bearer sa-token"}


BROKEN: dict[str, tuple[str, str]] = {
    "no YAML": ("{unclosed", "cannot be used"),
    "empty": ("", "cannot be used"),
    "a list": ("[1]", "cannot be used"),
    "no contexts": ('{"current-context": "a", "apiVersion": "v1"}', "cannot be used: .*a"),
    "no current context": ('{"clusters": [], "contexts": [], "users": []}', "cannot be used: .*current-context"),
    "another context": (
        '{"current-context": "b", "clusters": [], "contexts": [{"name": "a", "context": {}}], "users": []}',
        "cannot be used: .*name b",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_kubeconfig_is_an_error_that_names_it(tmp_path: Path, case: str) -> None:
    text, message = BROKEN[case]
    config = tmp_path / "config"
    config.write_text(text)
    with pytest.raises(InvalidInput, match=message) as caught:
        open_api_server(config)
    assert str(config) in caught.value.message
    assert "\n" not in caught.value.message


def test_a_certificate_that_is_missing_is_an_error(fake: FakeApi, tmp_path: Path) -> None:
    config = write_config(
        tmp_path / "config", fake, server="https://127.0.0.1:1", **{"certificate-authority": str(tmp_path / "none")}
    )
    with pytest.raises(InvalidInput, match="none"):
        open_api_server(config)


def test_a_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file"):
        open_api_server(tmp_path / "none")
    with pytest.raises(InvalidInput, match=r"KUBECONFIG=.*no such file"):
        open_api_server(environment={"KUBECONFIG": str(tmp_path / "none")})


def test_without_any_configuration_the_error_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="neither a kubeconfig nor a service account") as caught:
        open_api_server(environment={}, service_account=tmp_path)
    assert "--kubeconfig" in caught.value.hint
    with pytest.raises(InvalidInput, match="no kubeconfig to look for context x"):
        open_api_server(context="x", environment={}, service_account=tmp_path)


def test_credentials_that_cannot_be_renewed_are_an_error() -> None:
    class Configuration:
        def auth_settings(self) -> dict[str, Any]:
            raise OSError("identity provider is down")

    with pytest.raises(Forbidden, match="cannot renew the credentials of the kubeconfig: identity provider is down"):
        ClientCredentials(Configuration()).headers()


def test_half_a_service_account_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t")
    with pytest.raises(InvalidInput, match="service account cannot be used"):
        open_api_server(environment={}, service_account=tmp_path)
