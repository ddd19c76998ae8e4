"""Adapters of the ports for AWS, one a service; the only place that imports botocore.

Each takes its client, so that nothing is made at import. Errors of botocore never leave here:
``errors`` turns them into those of the domain.
"""
