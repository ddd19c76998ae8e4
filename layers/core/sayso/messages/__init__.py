"""What reaches our functions other than over HTTP: queue messages, schedules, mail events.

Each module turns one kind of message into one use case. A message that finds nothing to do is
acknowledged; only what time or a person can mend is raised.
"""
