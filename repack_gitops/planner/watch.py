"""Whoever waits for a plan: told how far the search is, and asked whether to make do with what is found."""

from __future__ import annotations


class Watch:
    """Waits in silence, for as long as it takes; doors override what they want to know."""

    def entered(self, phase: str) -> None:
        """Note that the search begins ``phase``, a few words such as "Fewest PodGroups"."""

    def found(self, freed: int, upper_bound: int) -> None:
        """Note the best plan so far: nodes it frees, and how many no plan can exceed."""

    def stop(self) -> bool:
        """Tell whether to end the search with the best plan so far; asked often, so it must answer at once."""
        return False


class Latch(Watch):
    """Another watch that, once it said stop, says so for ever: then the plan depends on when that was."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.stopped = False

    def entered(self, phase: str) -> None:
        """Pass on."""
        self._watch.entered(phase)

    def found(self, freed: int, upper_bound: int) -> None:
        """Pass on."""
        self._watch.found(freed, upper_bound)

    def stop(self) -> bool:
        """Tell whether to stop, now or ever before."""
        self.stopped = self.stopped or self._watch.stop()
        return self.stopped
