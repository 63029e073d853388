"""A user's mistake, in one line."""


class BadInput(Exception):
    """Ends the command with its message on one line and exit code 2."""
