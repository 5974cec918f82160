"""RepackPolicy, Guardrails and RepositoryConfig: what a repository says in advance (spec 3.1)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field

from repack_gitops.model.document import Document
from repack_gitops.model.fields import (
    UNIQUE,
    Annotations,
    Count,
    Cron,
    Duration,
    Labels,
    Name,
    Pause,
    Percent,
    Text,
    TimeZone,
)
from repack_gitops.model.run import RunTemplateSpec
from repack_gitops.model.safety import Safety, SafetyGuardrail

API_VERSION = "gitops.repack.volcano.sh/v1alpha1"


class PolicyMetadata(Document, frozen=True):
    """Name and labels."""

    name: Name
    labels: Labels = field(default_factory=dict)
    annotations: Annotations = field(default_factory=dict)


class Trigger(Document, frozen=True):
    """When a policy is due; at least one of the two, either fires."""

    cron_schedule: Annotated[Cron | None, Meta(description="Five cron fields; due once per tick of the schedule.")] = None
    time_zone: Annotated[TimeZone, Meta(description="IANA time zone of cronSchedule.")] = "UTC"
    on_frag_above_percent: Annotated[Percent | None, Meta(description="Due while the fragmentation rate is above this.")] = None


class RunTemplateMetadata(Document, frozen=True):
    """Labels and annotations of the runs a policy makes."""

    labels: Labels = field(default_factory=dict)
    annotations: Annotations = field(default_factory=dict)


class RunTemplate(Document, frozen=True):
    """The RepackRun a policy proposes, without its mode."""

    spec: RunTemplateSpec
    metadata: RunTemplateMetadata = field(default_factory=RunTemplateMetadata)


class Approval(Document, frozen=True):
    """What a merge approves."""

    envelope: Annotated[
        Literal["Subset", "Budget", "Exact"],
        Meta(description="How far the live re-plan may differ from the approved plan."),
    ] = "Subset"
    max_plan_age: Annotated[Duration, Meta(description="Older plans are not executed.")] = "24h"
    min_approvals: Annotated[Count, Meta(description="Approving reviews by others than the author.")] = 0


class AbortOn(Document, frozen=True):
    """After this much trouble no further node is started."""

    half_drained_nodes: Annotated[int, Meta(ge=1, description="Nodes left half drained.")] = 1
    rejections: Annotated[int, Meta(ge=1, description="Evictions refused for good.")] = 3


class Execution(Document, frozen=True):
    """How an approved run is executed."""

    steering: Annotated[
        Literal["Auto", "Nominate", "Gate", "None"], Meta(description="How replacements are led to their nodes.")
    ] = "Auto"
    fence: Annotated[
        Literal["None", "Taint"], Meta(description="Whether nodes being freed are tainted NoSchedule meanwhile.")
    ] = "None"
    max_parallel_nodes: Annotated[int, Meta(ge=1, description="Nodes in flight at once.")] = 1
    eviction_timeout: Annotated[Duration, Meta(description="How long a refused eviction is tried again.")] = "5m"
    placement_timeout: Annotated[Duration, Meta(description="How long a replacement may take to be bound.")] = "10m"
    cooldown: Annotated[Pause, Meta(description="Rest of the cluster after an execution; 0s is none.")] = "10m"
    abort_on: AbortOn = field(default_factory=AbortOn)


class Window(Document, frozen=True):
    """A recurring stretch of time."""

    schedule: Annotated[Cron, Meta(description="Five cron fields: when the window opens.")]
    duration: Annotated[Duration, Meta(description="How long it stays open.")]
    time_zone: Annotated[TimeZone, Meta(description="IANA time zone of the schedule.")] = "UTC"


class Windows(Document, frozen=True):
    """When execution is allowed; deny wins; without allow all other times are allowed."""

    allow: list[Window] = field(default_factory=list)
    deny: list[Window] = field(default_factory=list)


class ChangeTicket(Document, frozen=True):
    """Whether and how a change ticket must be named."""

    required: bool = False
    pattern: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1024,
            description="Regular expression the whole ticket must match.",
            extra_json_schema={"format": "regular-expression"},
        ),
    ] = ".+"


class PullRequestOptions(Document, frozen=True):
    """How the pull request looks."""

    labels: Annotated[list[Text], Meta(extra_json_schema=UNIQUE)] = field(default_factory=list)
    reviewers: Annotated[list[Text], Meta(extra_json_schema=UNIQUE)] = field(default_factory=list)
    assignees: Annotated[list[Text], Meta(extra_json_schema=UNIQUE)] = field(default_factory=list)
    draft: bool = False


class PolicySpec(Document, frozen=True):
    """When, what, how much, how executed."""

    trigger: Trigger
    run_template: RunTemplate
    suspend: Annotated[bool, Meta(description="A suspended policy proposes nothing.")] = False
    approval: Approval = field(default_factory=Approval)
    execution: Execution = field(default_factory=Execution)
    safety: Annotated[Safety, Meta(description="Whom runs leave alone.")] = field(default_factory=Safety)
    windows: Windows = field(default_factory=Windows)
    change_ticket: ChangeTicket = field(default_factory=ChangeTicket)
    pull_request: PullRequestOptions = field(default_factory=PullRequestOptions)
    successful_runs_history_limit: Count | None = None
    failed_runs_history_limit: Count | None = None


class RepackPolicy(Document, frozen=True):
    """policies/<name>.yaml."""

    api_version: Literal["gitops.repack.volcano.sh/v1alpha1"]
    kind: Literal["RepackPolicy"]
    metadata: PolicyMetadata
    spec: PolicySpec


class Caps(Document, frozen=True):
    """Hard limits per run."""

    cards: Count | None = None
    pod_groups: Count | None = None
    nodes: Count | None = None


class GuardrailsSpec(Document, frozen=True):
    """Limits no policy or run may exceed; a guardrail that fails blocks everywhere."""

    max_per_run: Annotated[Caps, Meta(description="Most cards, PodGroups and nodes of one run.")] = field(default_factory=Caps)
    forbidden_namespaces: Annotated[
        list[Text], Meta(description="Namespaces whose pods never move.", extra_json_schema=UNIQUE)
    ] = field(default_factory=list)
    forbidden_owner_kinds: Annotated[
        list[Text], Meta(description="Owner kinds whose pods never move.", extra_json_schema=UNIQUE)
    ] = field(default_factory=list)
    require_pod_group_scope: Annotated[
        bool, Meta(description="Whether every run must name the PodGroups it may touch (scope.podGroups.include).")
    ] = False
    safety: Annotated[SafetyGuardrail, Meta(description="Safety options that hold for every policy.")] = field(
        default_factory=SafetyGuardrail
    )


class Guardrails(Document, frozen=True):
    """policies/guardrails.yaml."""

    api_version: Literal["gitops.repack.volcano.sh/v1alpha1"]
    kind: Literal["Guardrails"]
    metadata: PolicyMetadata
    spec: GuardrailsSpec = field(default_factory=GuardrailsSpec)


class ClusterConfig(Document, frozen=True):
    """The cluster this repository governs."""

    name: Annotated[Name, Meta(description="Shown in titles and reports.")]


class ForgeConfig(Document, frozen=True):
    """Where pull requests live; tokens are never written here."""

    kind: Literal["gitea", "forgejo", "none"]
    url: Annotated[
        str,
        Meta(
            max_length=2048,
            description="Base URL of the forge's web interface, without credentials.",
            extra_json_schema={"format": "web-url"},
        ),
    ] = ""
    repository: Annotated[
        str,
        Meta(
            max_length=1024,
            pattern=r"^([A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+)?$",
            description="owner/name on the forge.",
            extra_json_schema={"patternErrorMessage": "is not owner/name of a repository"},
        ),
    ] = ""


class GitIdentity(Document, frozen=True):
    """Author of the commits this project makes."""

    name: Text = "repack-gitops"
    email: Text = "repack-gitops@users.noreply.invalid"


class GitConfig(Document, frozen=True):
    """How git is used."""

    base_branch: Annotated[
        str,
        Meta(min_length=1, max_length=200, description="Where approved runs live.", extra_json_schema={"format": "git-branch"}),
    ] = "main"
    identity: GitIdentity = field(default_factory=GitIdentity)


class JobConfig(Document, frozen=True):
    """Where the executor's Job is created, and from which template."""

    namespace: Name = "repack-system"
    template: Annotated[Name, Meta(description="ConfigMap that holds job.yaml, the executor's Job.")] = (
        "repack-executor-template"
    )


class RepositoryConfigSpec(Document, frozen=True):
    """What all policies of a repository share."""

    cluster: ClusterConfig
    forge: ForgeConfig
    git: GitConfig = field(default_factory=GitConfig)
    results: Annotated[Literal["direct", "branch", "pull-request"], Meta(description="How results reach the base branch.")] = (
        "direct"
    )
    job: JobConfig = field(default_factory=JobConfig)
    rejected_for: Annotated[
        Pause, Meta(description="How long a plan stays rejected after its pull request was closed unmerged; 0s is not at all.")
    ] = "7d"


class RepositoryConfig(Document, frozen=True):
    """repack.yaml."""

    api_version: Literal["gitops.repack.volcano.sh/v1alpha1"]
    kind: Literal["RepositoryConfig"]
    metadata: PolicyMetadata
    spec: RepositoryConfigSpec
