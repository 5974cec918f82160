"""What status.plan says of PodDisruptionBudgets."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from repack_gitops.model.budget_forecast import BudgetForecast
from repack_gitops.model.document import Document
from repack_gitops.model.fields import Count


class DisruptionBudgetStatus(Document, frozen=True):
    """What the plan asks of one PodDisruptionBudget, and what it will answer."""

    namespace: str
    name: str
    allowed: Annotated[Count, Meta(description="Disruptions it allows now; 0 while its status is stale.")]
    needed: Annotated[Count, Meta(description="Pods of the plan that count against it.")]
    verdict: Annotated[str, Meta(description="Enough, Waits, Stale, Exempt or Never.")]
    message: str


def budget_status(forecast: BudgetForecast) -> DisruptionBudgetStatus:
    """Return ``forecast`` as an entry of status.plan.disruptionBudgets."""
    return DisruptionBudgetStatus(
        namespace=forecast.namespace,
        name=forecast.name,
        allowed=forecast.allowed,
        needed=forecast.needed,
        verdict=forecast.verdict.value,
        message=forecast.message,
    )
