"""The half of the port that is about those who are paid: their accounts, what proves them, and where their money goes."""

import datetime as dt
from collections.abc import Sequence
from typing import Protocol

from store.providers.accounts import (
    Account,
    AccountRequest,
    Blocks,
    Content,
    Destination,
    DestinationRequest,
    Document,
    DocumentType,
    Enrolment,
    IdentityCheck,
)
from store.providers.actions import UserAction
from store.providers.keys import Key
from store.providers.money import MinorAmount


class PayeeProvider(Protocol):
    """What a provider does for those who are paid; the rules are those of `PaymentProvider`."""

    async def create_account(
        self, request: AccountRequest, *, return_url: str, key: Key, sent_at: dt.datetime
    ) -> Account:
        """Make somebody known who will be paid. The representative authenticates at `action.url`, then comes back to
        `return_url` whatever the outcome; the link has ten minutes.

        One whose outcome stays unknown is found by `events_since`: an event of an account with our `reference`.
        """
        ...

    async def update_account(self, account_id: str, request: AccountRequest) -> Account:
        """Tell the provider what has changed. The kind of person cannot change. Raises `InvalidRequest`, `NotFound`."""
        ...

    async def get_account(self, account_id: str) -> Account:
        """An account as it is now, without an `action`. Raises `NotFound`."""
        ...

    async def open_enrolment(
        self, account_id: str, *, return_url: str, key: Key, sent_at: dt.datetime
    ) -> UserAction | None:
        """A new session in which the representative authenticates; it has ten minutes. Others stay as they are.

        None: the provider asks nothing of this representative, who counts as authenticated from now on.
        """
        ...

    async def get_enrolment(self, account_id: str) -> Enrolment | None:
        """Whether the representative has authenticated; None when that was never asked of them."""
        ...

    async def enrolment_failed(self, account_id: str, since: dt.datetime) -> bool:
        """Whether the provider has told, after that moment, that a session of the representative failed.

        It tells whole seconds: a failure in the very second of `since` counts as an earlier one.
        """
        ...

    async def get_blocks(self, account_id: str) -> Blocks:
        """What the provider lets neither in nor out. Raises `NotFound`."""
        ...

    async def open_identity_check(
        self, account_id: str, *, return_url: str, key: Key, sent_at: dt.datetime
    ) -> IdentityCheck:
        """A session in which somebody proves an identity; `return_url` has at most 50 characters. It lasts seven days."""
        ...

    async def get_identity_check(self, id: str) -> IdentityCheck:
        """A session as it is now. Raises `NotFound`."""
        ...

    async def list_identity_checks(self, account_id: str) -> Sequence[IdentityCheck]:
        """All sessions of an account, the newest first."""
        ...

    async def create_document(
        self, account_id: str, type: DocumentType, *, reference: str, key: Key, sent_at: dt.datetime
    ) -> Document:
        """Begin to hand in a document; its files follow by `add_page`. `reference` is our own name for it."""
        ...

    async def add_page(
        self, account_id: str, document_id: str, content: Content, *, key: Key, sent_at: dt.datetime
    ) -> None:
        """Add a file to a document: PDF, PNG, JPEG or GIF of 1 kB to 7 MB, at most five. It passes through in pieces.

        `content` is read from its beginning more than once, first to learn its length.
        """
        ...

    async def submit_document(self, account_id: str, document_id: str) -> Document:
        """Ask for a document to be examined. A second time changes nothing. Raises `InvalidRequest` without a page."""
        ...

    async def get_document(self, id: str) -> Document:
        """A document as it is now. Raises `NotFound`."""
        ...

    async def list_documents(self, account_id: str) -> Sequence[Document]:
        """All documents of an account, the newest first."""
        ...

    async def add_destination(
        self, request: DestinationRequest, *, return_url: str, key: Key, sent_at: dt.datetime
    ) -> Destination:
        """Register a bank account to pay out to. The representative authenticates for it at `action.url`, which has ten
        minutes, then comes back to `return_url` whatever the outcome.
        """
        ...

    async def get_destination(self, id: str) -> Destination:
        """A bank account as it is now, without an `action`. Raises `NotFound`."""
        ...

    async def list_destinations(self, account_id: str) -> Sequence[Destination]:
        """All bank accounts of an account, the newest first, without an `action`."""
        ...

    async def deactivate_destination(self, id: str) -> Destination:
        """Let nothing more be sent to a bank account; it cannot be taken back. A second time changes nothing."""
        ...

    async def open_wallet(self, owner_id: str, currency: str, label: str, *, key: Key, sent_at: dt.datetime) -> str:
        """Open a wallet in one currency for one owner, and answer its id. `label` has at most 255 characters."""
        ...

    async def get_balance(self, wallet_id: str, *, return_url: str) -> MinorAmount:
        """What is in a wallet. Raises `NotFound`, and `ActionRequired` when its owner has to authenticate first, who
        then comes back to `return_url`.
        """
        ...
