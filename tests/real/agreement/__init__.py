"""Whether the schedulers agree with us: random small clusters on the real control plane, verdicts compared node by node.

=============================  =====================================================================================
module                         answers
=============================  =====================================================================================
``case``, ``draft``            what a case is, how it gets names of its own on a shared control plane, how it begins
``generator``, ``kinds_*``     how a seed becomes a case, one function per kind of constraint
``bed``, ``api``               which control plane it runs on, and how objects are created quickly
``extender``                   how both schedulers tell us, node by node, what their own filters let through
``universe``                   how many cases live side by side without touching one another
``runner``                     what the schedulers make of a case, real bindings included
``oracle``                     what we say; the only module that calls the planner
``exceptions``                 which differences are known, each with its cause and its reason
``verdict``, ``compare``       what differs
``table``, ``shrinker``        the agreement by filter; how a case that differs becomes minimal
``check``                      the whole, from cases to a report
=============================  =====================================================================================
"""
