"""The local stack: the real template on an AWS emulator, behind one port. Never deployed."""
