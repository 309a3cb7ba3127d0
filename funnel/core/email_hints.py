"""Hints at mistyped domains of e-mail addresses. They refuse nothing: the same address, sent again, goes on."""

from funnel.core.forms import Form
from schema.validation.mail_domains import suggested_email

TAKE, SEEN = "use-", "hinted-"
"""Before the name of a field: the button that takes the suggestion, and the address that the page has a hint at."""


def is_taken(form: Form, name: str) -> bool:
    """Whether the button of the hint at a field was pressed."""
    return f"{TAKE}{name}" in form


def with_suggestion(form: Form, name: str) -> Form:
    """The form with the suggestion that the button takes in the field; unchanged if it was not pressed."""
    return {**form, name: form[f"{TAKE}{name}"]} if is_taken(form, name) else form


def is_hint_due(form: Form, name: str, country: str) -> bool:
    """Whether the page is to be shown once more, with a hint: it has had none at this address yet."""
    typed = form.get(name, "")
    return bool(suggested_email(typed, country)) and form.get(f"{SEEN}{name}", "") != typed
