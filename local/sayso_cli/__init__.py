"""The command ``sayso``: looks after a deployed stack. Never deployed itself."""
