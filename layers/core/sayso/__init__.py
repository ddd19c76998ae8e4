"""Sayso's core: pausing, forms, deciding, resuming and recovering.

Shared by all functions. Never imports the agent layer (``sayso_agent``), which only the
``resume`` function mounts.
"""

__version__ = "0.1.0"
