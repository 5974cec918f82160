"""A budget for another resource than the goal's is an error, not a cap that never binds."""

from __future__ import annotations

import pytest

from repack_gitops.errors import InvalidInput
from repack_gitops.model.documents import read_policy, read_run

RUN = """\
apiVersion: repack.volcano.sh/v1alpha1
kind: RepackRun
metadata:
  name: a
spec:
  mode: DryRun
  goals:
    - resource: nvidia.com/gpu
  maxPerRun:
    resources:
      nvidia.com/gpus: 8
"""

POLICY = """\
apiVersion: gitops.repack.volcano.sh/v1alpha1
kind: RepackPolicy
metadata:
  name: a
spec:
  trigger:
    onFragAbovePercent: 10
  runTemplate:
    spec:
      goals:
        - resource: nvidia.com/gpu
      maxPerRun:
        resources:
          nvidia.com/gpus: 8
"""


def test_in_a_run() -> None:
    with pytest.raises(InvalidInput, match=r"run\.yaml:11:\d+: spec\.maxPerRun\.resources.*nvidia\.com/gpu"):
        read_run(RUN, "run.yaml")


def test_in_a_policy() -> None:
    with pytest.raises(InvalidInput, match=r"p\.yaml:14:\d+: spec\.runTemplate\.spec\.maxPerRun"):
        read_policy(POLICY, "p.yaml")


def test_the_goals_own_resource_is_fine() -> None:
    limits = read_run(RUN.replace("gpus", "gpu"), "run.yaml").spec.max_per_run
    assert limits is not None
    assert limits.resources == {"nvidia.com/gpu": 8}
