"""Whether the schedulers agree with us: random small clusters on the real control plane, verdicts compared node by node.

========================  ==========================================================================================
module                    answers
========================  ==========================================================================================
``case``                  what one case is, and how it gets names of its own on a shared control plane
``generator``, ``kinds``  how a seed becomes a case
``api``                   how objects are created and listed quickly
``extender``              how both schedulers tell us, node by node, what their own filters let through
``universe``              how many cases live side by side without touching one another
``runner``                what the schedulers make of a case, including one real binding
``oracle``                what we say; the only module that calls the planner
``exceptions``            which differences are known, each with its reason
``compare``, ``table``    what differs, and the agreement by filter
``shrinker``              how a case becomes minimal
========================  ==========================================================================================
"""
