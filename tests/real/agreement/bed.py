"""The control plane of the agreement test: both schedulers, quick clients, and an ear behind each scheduler's filters."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.testbed.control_plane import ControlPlane
from tests.testbed.nodes import Object

#: Nothing but what decides about nodes, and our ear after all of it. No plugin shares out the cluster among queues: residents
#: that hold more than there is would make their queue overused, whatever the node.
VOLCANO_CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
- plugins:
  - name: predicates
{more}- plugins:
  - name: extender
    arguments:
      extender.urlPrefix: {url}
      extender.httpTimeout: 10s
      extender.predicateVerb: predicate
      extender.onSessionCloseVerb: close
      extender.ignorable: false
"""


#: Controllers that write about every node, pod and namespace, and decide nothing here.
IDLE_CONTROLLERS = ("ttl-controller", "garbage-collector-controller", "root-ca-certificate-publisher-controller")
#: Nobody reads the events of thousands of pods; a refused one is not tried again.
NO_EVENTS: tuple[Object, ...] = (
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "no-events"},
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["", "events.k8s.io"],
                        "apiVersions": ["*"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["events"],
                    }
                ]
            },
            "validations": [{"expression": "false", "message": "no events in this test"}],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "no-events"},
        "spec": {"policyName": "no-events", "validationActions": ["Deny"]},
    },
)


def kube_scheduler_conf(url: str) -> str:
    """Return kube-scheduler's own defaults plus the extender; preemption is off, since a probe must not evict."""
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": "kubeconfig", "qps": 1000, "burst": 1000},
        "leaderElection": {"leaderElect": False},
        "percentageOfNodesToScore": 100,
        "profiles": [
            {"schedulerName": "default-scheduler", "plugins": {"postFilter": {"disabled": [{"name": "DefaultPreemption"}]}}}
        ],
        "extenders": [{"urlPrefix": url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "10s", "weight": 1}],
    }
    return json.dumps(document)


def start_bed(start: Callable[..., ControlPlane], url: str, folder: Path, *, node_groups: bool = False) -> ControlPlane:
    """Start the control plane; ``node_groups`` adds Volcano's plugin of that name, in its default (strict) mode.

    Nodes of cases have no kubelet and no KWOK: they keep the conditions they were created with. So the node controller
    must wait for heartbeats longer than any test runs, and a new node must not be tainted before it is looked at.
    """
    configuration = folder / "kube-scheduler.json"
    configuration.write_text(kube_scheduler_conf(url))
    idle = ",".join(f"-{name}" for name in IDLE_CONTROLLERS)
    flags = {
        "kube-apiserver": ["--disable-admission-plugins=TaintNodesByCondition"],
        "kube-controller-manager": [
            f"--controllers={idle}",
            "--node-monitor-grace-period=10h",
            "--kube-api-qps=500",
            "--kube-api-burst=500",
        ],
        "kube-scheduler": [f"--config={configuration}"],
    }
    conf = VOLCANO_CONF.format(url=url, more="  - name: nodegroup\n" if node_groups else "")
    plane = start(kube_scheduler=True, webhooks=False, scheduler_conf=conf, flags=flags, schedule_period="200ms")
    plane.apply(*NO_EVENTS)
    return plane
