"""Stores: the records of runs and forms over the port ``Table``.

Written once; the in-memory and the DynamoDB table give them the same meaning. Every change is one
conditional write or one transaction that names the states it may come from.
"""
