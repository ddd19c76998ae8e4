"""The AWS services in this process, as deep as our adapters can see them.

Answers what botocore is about to send, so that the real adapters and botocore's own retries are
part of every test. Kept honest by the contract suites of ``tests/contract/ports``.
"""
