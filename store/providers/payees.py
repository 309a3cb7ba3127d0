"""The part of the port for payees: accounts, identification, bank accounts and wallets."""

import datetime as dt
from collections.abc import Sequence
from typing import Protocol

from store.providers.accounts import (
    Account,
    AccountDocument,
    AccountRequest,
    Blocks,
    Content,
    Destination,
    DestinationRequest,
    DocumentType,
    Enrolment,
    IdentityCheck,
    OwnerCheck,
)
from store.providers.actions import UserAction
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount


class PayeeProvider(Protocol):
    """The operations for payees. The rules of `PaymentProvider` apply."""

    async def create_account(
        self, request: AccountRequest, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Account:
        """Create an account.

        The representative authenticates at `action.url` within ten minutes, and then returns to `return_url` whatever
        the outcome. If the outcome of the call stays unknown, `events_since` finds the account: its event leads to an
        account with our `reference`.
        """
        ...

    async def update_account(self, account_id: str, request: AccountRequest) -> Account:
        """Send changed data to the provider.

        The legal kind cannot change. Raises `InvalidRequest` and `ProviderNotFound`.
        """
        ...

    async def get_account(self, account_id: str) -> Account:
        """The current account, without an `action`. Raises `ProviderNotFound`."""
        ...

    async def open_enrolment(
        self, account_id: str, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> UserAction | None:
        """Open an authentication session of the representative, valid for ten minutes. Other sessions are not affected.

        None means that the provider requires nothing of this representative, who counts as authenticated from now on.
        """
        ...

    async def get_enrolment(self, account_id: str) -> Enrolment | None:
        """The representative's enrolment; None if authentication was never requested."""
        ...

    async def enrolment_failed(self, account_id: str, since: dt.datetime) -> bool:
        """True if the provider reported a failed session of the representative after `since`.

        The provider reports whole seconds: a failure in the same second as `since` counts as earlier.
        """
        ...

    async def get_blocks(self, account_id: str) -> Blocks:
        """The blocked money flows of an account, and until when its identity is verified. Raises `ProviderNotFound`."""
        ...

    async def open_identity_check(
        self, account_id: str, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> IdentityCheck:
        """Open an identity check session, valid for seven days. `return_url` has at most 50 characters."""
        ...

    async def get_identity_check(self, id: str) -> IdentityCheck:
        """The current session. Raises `ProviderNotFound`."""
        ...

    async def list_identity_checks(self, account_id: str) -> Sequence[IdentityCheck]:
        """All identity check sessions of an account, newest first."""
        ...

    async def retry_owner_check(self, check_id: str, owner_id: str) -> OwnerCheck:
        """Open another session for an owner whose check was REJECTED; a PENDING one keeps its session.

        `check_id` is the session of the business. Raises `InvalidRequest` for an ABANDONED check, and
        `ProviderNotFound`.
        """
        ...

    async def create_document(
        self, account_id: str, type: DocumentType, *, reference: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> AccountDocument:
        """Create a document; `add_page` adds its files. `reference` is our name for it."""
        ...

    async def add_page(
        self, account_id: str, document_id: str, content: Content, *, key: IdempotencyKey, sent_at: dt.datetime
    ) -> None:
        """Add a file to a document: PDF, PNG, JPEG or GIF of 1 kB to 7 MB, at most five files. It is streamed.

        `content` is read several times from its beginning, first to compute its length.
        """
        ...

    async def submit_document(self, account_id: str, document_id: str) -> AccountDocument:
        """Submit a document for examination.

        Repeating it changes nothing. Raises `InvalidRequest` for a document without pages.
        """
        ...

    async def get_document(self, id: str) -> AccountDocument:
        """The current document. Raises `ProviderNotFound`."""
        ...

    async def list_documents(self, account_id: str) -> Sequence[AccountDocument]:
        """All documents of an account, newest first."""
        ...

    async def add_destination(
        self, request: DestinationRequest, *, return_url: str, key: IdempotencyKey, sent_at: dt.datetime
    ) -> Destination:
        """Register a bank account for payouts.

        The representative authenticates at `action.url` within ten minutes, and then returns to `return_url` whatever
        the outcome.
        """
        ...

    async def get_destination(self, id: str) -> Destination:
        """The current bank account, without an `action`. Raises `ProviderNotFound`."""
        ...

    async def list_destinations(self, account_id: str) -> Sequence[Destination]:
        """All bank accounts of an account, newest first, without an `action`."""
        ...

    async def deactivate_destination(self, id: str) -> Destination:
        """Deactivate a bank account for good. Repeating it changes nothing."""
        ...

    async def open_wallet(
        self,
        owner_id: str,
        currency: str,
        label: str,
        *,
        reference: str = "",
        key: IdempotencyKey,
        sent_at: dt.datetime,
    ) -> str:
        """Open a wallet in one currency and return its id. `label` has at most 255 characters.

        `reference` is our name for it, by which `find_wallet` finds it.
        """
        ...

    async def find_wallet(self, owner_id: str, reference: str) -> str | None:
        """The id of the owner's wallet with this reference; None if there is none.

        Raises `ProviderNotFound`, and `ActionRequired` for an owner who must authenticate first.
        """
        ...

    async def get_balance(self, wallet_id: str, *, return_url: str) -> MinorAmount:
        """The balance of a wallet.

        Raises `ProviderNotFound`, and `ActionRequired` if the owner must authenticate first, who then returns to
        `return_url`.
        """
        ...
