"""Messages about changes of a log-in: what has happened, who did it, when, and what to do if it was not expected."""

import pytest

from admin.core import paths
from schema.account.change import AccountChange, ChangeActor
from schema.mail import MailKind
from schema.validation.languages import LANGUAGES
from store.account.links import ACCOUNT_PAGE, FORGOTTEN_PAGE, PAGE
from store.mail.render import RenderedMail
from tests.store.mail.account_examples import account_change
from tests.store.mail.examples import PUBLIC_URL, example
from tests.store.mail.page_reader import PageReader

ACCOUNT, FORGOTTEN = f"{PUBLIC_URL}/admin/account/", f"{PUBLIC_URL}/admin/forgot-password/"
TO_REVOKE = {
    AccountChange.TOKEN_CREATED: "Revoke the API token",
    AccountChange.PASSKEY_REGISTERED: "Delete the passkey",
}
PAGES = {
    **{change: {FORGOTTEN, ACCOUNT} for change in TO_REVOKE},
    AccountChange.EMAIL: {ACCOUNT},
    AccountChange.EMAIL_AND_PASSWORD: set[str](),
}
"""Where a message leads to, if not to the choice of a new password, which is mailed to another address by now."""


def changed(change: AccountChange, language: str = "en", **more: object) -> RenderedMail:
    return example(MailKind.ACCOUNT_CHANGED, language, account_change(change, **more))


def both_parts(message: RenderedMail) -> tuple[str, str]:
    return " ".join(message.text.split()), " ".join(PageReader(message.html).text.split())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("change", AccountChange)
def test_each_change_is_told_with_whose_it_is_and_who_did_it(change: AccountChange, language: str) -> None:
    message = changed(change, language)
    content = account_change(change)
    for words in both_parts(message):
        for part in ("ada@partner.example (Gästehaus)", "grace@market.example", "2026", "(Europe/Paris)", content.name):
            assert part in words, part
        assert "24" in words, "in Paris it was past midnight"
        assert " ".join(message.subject.split()) in words
    pages = PAGES.get(change, {FORGOTTEN})
    assert set(PageReader(message.html).links) == pages
    assert all((page in message.text) is (page in pages) for page in (FORGOTTEN, ACCOUNT))


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_changes_are_told_alike(language: str) -> None:
    messages = [changed(change, language, name="") for change in AccountChange]
    assert len({message.subject for message in messages}) == 1, "who may read the outbox learns nothing of a log-in"
    assert len({message.text.split("\n\n")[2] for message in messages}) == len(AccountChange)


@pytest.mark.parametrize("actor", ChangeActor)
def test_nothing_is_told_of_who_did_it_but_the_user_name(actor: ChangeActor) -> None:
    username = "grace@market.example" if actor is ChangeActor.USER else ""
    told = {
        ChangeActor.SELF: "You, or somebody with your log-in",
        ChangeActor.LINK: "You, or somebody with the link that was sent to this address",
        ChangeActor.USER: "The user grace@market.example",
        ChangeActor.OPERATOR: "The operator of the service, on the command line",
    }
    for words in both_parts(changed(AccountChange.PASSWORD, actor=actor, actor_username=username)):
        assert [each for each in told if told[each] in words] == [actor]


@pytest.mark.parametrize(
    ("actor", "is_deleted", "effect"),
    [
        (ChangeActor.SELF, False, "All other log-ins and API tokens have ended."),
        (ChangeActor.SELF, True, "All other log-ins, API tokens and passkeys have ended."),
        (ChangeActor.LINK, True, "All log-ins, API tokens and passkeys have ended."),
    ],
)
def test_what_a_new_password_ends_is_told(actor: ChangeActor, is_deleted: bool, effect: str) -> None:
    for change in (AccountChange.PASSWORD, AccountChange.EMAIL_AND_PASSWORD):
        for words in both_parts(changed(change, actor=actor, deletes_passkeys=is_deleted)):
            assert effect in words


@pytest.mark.parametrize("change", AccountChange)
def test_what_was_created_can_be_taken_back_in_the_account(change: AccountChange) -> None:
    for words in both_parts(changed(change)):
        assert [each for each, step in TO_REVOKE.items() if step in words] == [change] * (change in TO_REVOKE)


def test_what_is_unknown_is_left_out() -> None:
    for words in both_parts(changed(AccountChange.TOKEN_CREATED, name="", first_name="", organisation="")):
        assert "Hello" not in words
        assert "Name" not in words
        assert "log-in ada@partner.example." in words
        assert "manages the users of Maison Valserène" in words


def test_the_links_are_the_pages_of_the_back_office() -> None:
    assert (ACCOUNT_PAGE, FORGOTTEN_PAGE, PAGE) == (
        paths.ACCOUNT_PATH,
        paths.FORGOT_PASSWORD_PATH,
        paths.RESET_PASSWORD_PATH,
    )
