"""Strategy Optimal (spec 2.5): the most nodes for the least disruption, with a bound that no plan exceeds."""
