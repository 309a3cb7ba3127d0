"""Changes of the credentials of a log-in, of which the user gets a message. They are not published."""

from enum import StrEnum


class AccountChange(StrEnum):
    """What has changed of a log-in."""

    PASSWORD = "password"  # noqa: S105 - the name of a change
    SECOND_FACTOR_ENABLED = "second_factor_enabled"
    SECOND_FACTOR_DISABLED = "second_factor_disabled"
    SECOND_FACTOR_RESET = "second_factor_reset"
    """By somebody else, with the passkeys."""
    RECOVERY_CODES = "recovery_codes"
    PASSKEY_REGISTERED = "passkey_registered"
    PASSKEY_DELETED = "passkey_deleted"
    TOKEN_CREATED = "token_created"  # noqa: S105 - the name of a change
    EMAIL = "email"
    EMAIL_AND_PASSWORD = "email_and_password"  # noqa: S105 - the name of a change


class ChangeActor(StrEnum):
    """Who has changed it, as far as the service knows."""

    SELF = "self"
    """Whoever has a log-in or a token of the user."""
    LINK = "link"
    """Whoever has a link that was sent to the user."""
    USER = "user"
    """Another user."""
    OPERATOR = "operator"
    """Whoever runs the service, on the command line."""
