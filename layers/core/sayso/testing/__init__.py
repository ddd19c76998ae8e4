"""Ports in memory, for tests: ours and yours.

Each behaves like its AWS adapter, which the contract suite in ``tests/contract/ports`` runs on
both. All take a ``faults`` hook, so that a test can let any call fail before or after its effect.
No botocore, no network, no real time.
"""
