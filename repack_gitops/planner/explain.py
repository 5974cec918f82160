"""Why occupied nodes stay: the same values that decided, and the nearest thing that would change each."""

from __future__ import annotations

from repack_gitops.model.change import Action, Change
from repack_gitops.model.plan import Code, Reason, Refusal, Stay
from repack_gitops.model.quantity import whole
from repack_gitops.model.status import counted
from repack_gitops.planner.drain import DrainResult
from repack_gitops.planner.nearest import Nearest
from repack_gitops.planner.problem import Problem
from repack_gitops.planner.refusals import Refusals
from repack_gitops.planner.remedies import POD_RULES, change_for_node, change_for_quota, changes_for_pods

NOT_TOGETHER = "each of its pods fits somewhere, but not all together"


def why_nodes_stay(problem: Problem, result: DrainResult) -> dict[str, Stay]:
    """Return why each occupied node that ``result`` does not free stays, by name, sorted."""
    return _Explainer(problem, result).stays()


def below_threshold(wanted: int, gain: int) -> Stay:
    """Return why nodes of a plan stay that gains ``gain`` points, rounded down, where ``wanted`` are asked for."""
    detail = f"could take part in a plan, but the whole plan gains less than {wanted} points"
    nearest = Change(Action.LOWER_THRESHOLD, "", "minFragImprovementPercent", wanted, gain)
    return Stay(Reason(Code.BELOW_THRESHOLD, detail), nearest=(nearest,))


class _Explainer:
    def __init__(self, problem: Problem, result: DrainResult) -> None:
        self._problem, self._result = problem, result
        self._refusals = Refusals(problem, result.occupancy)
        self._nearest = Nearest(problem, result.occupancy, self._refusals)
        #: By class: how many nodes still have room for one more pod.
        self._open: dict[int, int] = {}

    def stays(self) -> dict[str, Stay]:
        freed = {s.node for s in self._result.steps}
        receiving = {m.to_node for s in self._result.steps for m in s.moves}
        found = {}
        for i, node in enumerate(self._problem.nodes):
            if not self._problem.occupied[i] or node.name in freed:
                continue
            if i in self._problem.blocked:
                found[node.name] = self._blocked(i)
            elif node.name in receiving:
                found[node.name] = Stay(Reason(Code.RECEIVES, "it takes pods of this plan"))
            elif i in self._result.undecided:
                found[node.name] = Stay(Reason(Code.SEARCH_STOPPED, "the search was stopped before this node's turn"))
            elif i in self._result.over_budget:
                found[node.name] = self._over_budget(i)
            elif i in self._result.over_quota:
                found[node.name] = self._over_quota(i)
            else:
                found[node.name] = self._stuck(i)
        return found

    def _blocked(self, node: int) -> Stay:
        problem, reason, name = self._problem, self._problem.blocked[node], self._problem.nodes[node].name
        if reason.code not in POD_RULES or problem.nodes[node].do_not_disrupt:
            change = change_for_node(problem, problem.nodes[node], reason)
            return Stay(reason, nearest=(change,) if change else ())
        pods = [p for p in problem.snapshot.pods_by_node[name] if p.requests.get(problem.resource, 0) > 0]
        changes = tuple(dict.fromkeys(changes_for_pods(problem, pods)))
        return Stay(reason, nearest=tuple(c for c in changes if c) if None not in changes else ())

    def _over_budget(self, node: int) -> Stay:
        budget, ledger = self._problem.budget, self._result.ledger
        caps, changes = [], []
        if budget.pod_groups is not None:
            caps.append(f"{budget.pod_groups} PodGroups")
            needed = int(ledger.costs[0, node]) + ledger.groups_touched
            if needed > budget.pod_groups:
                changes.append(Change(Action.RAISE_BUDGET, "", "maxPerRun.podGroups", budget.pod_groups, needed))
        if budget.cards is not None:
            caps.append(f"{budget.cards} cards")
            needed = int(ledger.costs[3, node]) + ledger.cards_moved
            if needed > budget.cards:
                changes.append(self._more_cards(budget.cards, needed))
        detail = f"emptying it would exceed maxPerRun ({', '.join(caps)})"
        return Stay(Reason(Code.BUDGET_EXCEEDED, detail), nearest=tuple(changes))

    def _more_cards(self, now: int, needed: int) -> Change:
        if now == self._problem.options.envelope.cards:
            return Change(Action.APPROVE_AGAIN, f"{needed:,} cards")
        return Change(Action.RAISE_BUDGET, "", f"maxPerRun.resources of {self._problem.resource}", now, needed)

    def _over_quota(self, node: int) -> Stay:
        reason = self._result.over_quota[node]
        return Stay(reason, nearest=(change_for_quota(reason),))

    def _stuck(self, node: int) -> Stay:
        if any(self._result.around.concerns(v.pod) for v in self._problem.victims[node]):
            return self._apart(node)
        classes = tuple(v.pod_class for v in self._problem.victims[node])
        change = self._nearest.change(classes, node)
        nearest = (change,) if change else ()
        homeless = next((c for c in classes if not self._fits_elsewhere(c, node)), None)
        if homeless is None:
            return Stay(Reason(Code.NO_RECEIVER, NOT_TOGETHER), nearest=nearest)
        return self._homeless(homeless, self._refusals.counted(homeless, node), nearest)

    def _apart(self, node: int) -> Stay:
        """Say the same of a node to whose pods other pods matter; what those would have to change is not looked for."""
        victims, around = self._problem.victims[node], self._result.around
        with around.without([v.pod for v in victims]):
            for victim in victims:
                flags = self._result.occupancy.fits(victim.pod_class).copy()
                flags[node] = False
                if not (flags & around.open_nodes(victim.pod)).any():
                    counts = ((code, int((flags & closed).sum())) for code, closed in around.refusing(victim.pod))
                    apart = tuple(Refusal(code, "", count) for code, count in counts if count)
                    return self._homeless(victim.pod_class, (*self._refusals.counted(victim.pod_class, node), *apart), ())
        return Stay(Reason(Code.NO_RECEIVER, NOT_TOGETHER))

    def _homeless(self, homeless: int, refusals: tuple[Refusal, ...], nearest: tuple[Change, ...]) -> Stay:
        receivers = sum(r.count for r in refusals)
        if not receivers:
            return Stay(Reason(Code.NO_RECEIVER, "no other node with pods that stay is left to receive its pods"))
        asked = counted(whole(self._problem.classes[homeless].template.get(self._problem.resource, 0)), "card")
        why = ", ".join(map(str, refusals))
        detail = f"no room for a pod of {asked} on the {counted(receivers, 'other occupied node')} ({why})"
        return Stay(Reason(Code.NO_RECEIVER, detail), receivers, refusals, nearest)

    def _fits_elsewhere(self, pod_class: int, node: int) -> bool:
        flags = self._result.occupancy.fits(pod_class)
        if pod_class not in self._open:
            self._open[pod_class] = int(flags.sum())
        return self._open[pod_class] - int(flags[node]) > 0
