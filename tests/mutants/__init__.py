"""Does a test notice when a guard is gone? Each guard is taken out of a copy of the code.

``python -m mutants`` makes the table; a guard that nobody misses is a missing test.
"""
