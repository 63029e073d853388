"""What a person did wrong, told in one line."""


class BadInput(Exception):
    """Ends the command with its message on one line and exit code 2."""
