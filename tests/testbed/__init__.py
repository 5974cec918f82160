"""The real parts that tests run against: a Kubernetes and Volcano control plane, a kubelet made of processes, a forge.

========================  ==========================================================================================
module                    answers
========================  ==========================================================================================
``build``                 how the binaries are compiled, once per machine: ``python -m tests.testbed.build``
``toolchain``             which Go compiles them
``parts``                 where they are, and which set of them belongs to this checkout
``control_plane``         how etcd, the API server, the controllers, Volcano and KWOK are started and stopped
``cluster``               what a test does with a running control plane
``gitea``, ``gitea_api``  the same for the forge
``agent``                 who runs the pods of our Jobs: a kubelet that starts local processes
``shared``, ``keeper``    how all workers of one test run share one control plane and one forge
========================  ==========================================================================================
"""
