"""The error of a failed command."""


class CommandError(Exception):
    """A command failed for a reason that the operator can fix. The message states the reason and the fix."""
