"""Wastenot from Python. What schedulers do is worked out by the program `wastenot` alone."""
