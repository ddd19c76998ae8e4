"""The crash table: every AWS call of every scenario fails in every way, and nothing goes wrong.

``double`` stands for the services, ``stack`` for the platform around our functions, ``faults`` for
what can go wrong at the one place where both meet. ``python -m crash`` makes the table.
"""
