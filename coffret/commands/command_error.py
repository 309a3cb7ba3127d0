"""What a command says when it cannot do what it was asked."""


class CommandError(Exception):
    """A command cannot do what it was asked. The message says why, and the way out."""
