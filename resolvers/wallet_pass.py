"""Passes of vouchers and gift cards for Apple Wallet and Google Wallet, beside their documents."""

from dataclasses import dataclass

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from schema.core.errors import NotFound
from schema.gift_card.gift_card import GiftCard
from schema.network.gift_card import NetworkGiftCard
from schema.network.voucher import NetworkVoucher
from schema.voucher.voucher import Voucher
from store.document.addresses import DocumentKind
from store.document.cache import pictures_of, safe_name
from store.document.source import (
    UNPRINTABLE_STATES,
    DocumentSource,
    document_source_of,
    find_printable,
)
from store.document.wallet.addresses import NO_PASSES, PassPaths, pass_paths
from store.document.wallet.apple import make_apple_pass
from store.document.wallet.content import PassContent, owner_name, pass_content_of
from store.document.wallet.google import google_save_url
from store.payment.payments import PaymentRow

PASS_KINDS = (DocumentKind.VOUCHER, DocumentKind.GIFT_CARD, DocumentKind.NETWORK_VOUCHER)
"""The documents that have passes beside them."""


@dataclass(frozen=True, slots=True)
class ApplePass:
    """A pass for Apple Wallet as it is served."""

    content: bytes
    file_name: str


async def find_apple_pass(context: Context, kind: DocumentKind, token: str) -> ApplePass:
    """The pass beside the document of a URL token, newly signed.

    Raises NotFound for an unknown token, for an item without a document, and if no key signs it.
    """
    services = context.services
    source, content = await _find_content(context, kind, token)
    key = services.wallet_keys.apple(content.owner, services.clock.now())
    if key is None:
        raise NotFound(thing="document")
    made = await make_apple_pass(content, key, await pictures_of(services.files, source))
    return ApplePass(made, f"{safe_name(f'{content.sheet.overline} {content.sheet.look.name}')}.pkpass")


async def find_google_pass_url(context: Context, kind: DocumentKind, token: str) -> str:
    """The save link of Google Wallet for the item of a URL token. Raises NotFound as `find_apple_pass`."""
    _, content = await _find_content(context, kind, token)
    key = context.services.wallet_keys.google(content.owner)
    if key is None:
        raise NotFound(thing="document")
    return google_save_url(content, key)


async def _find_content(context: Context, kind: DocumentKind, token: str) -> tuple[DocumentSource, PassContent]:
    services, now = context.services, context.services.clock.now()

    async def look() -> tuple[DocumentSource, PassContent] | None:
        async with services.db.sessions() as db:
            row = await find_printable(db, kind, token)
            if row is None or isinstance(row, PaymentRow):
                return None
            source = await document_source_of(db, services.settings, row, now)
            return source, await pass_content_of(db, services.settings, kind, row, source, now)

    found = await throttled_lookup(context, "document", look)
    if found is None:
        raise NotFound(thing="document")
    return found


def _derive_urls(published: type, kind: DocumentKind, *, of_network: bool) -> None:
    """Register the rules of the two fields of a type. Their columns are the state, the token and the issuer."""

    def paths_of(context: Context, state: str, token: str, issuer_id: int) -> PassPaths:
        owner = owner_name(None, issuer_id) if of_network else owner_name(issuer_id, None)
        if state in UNPRINTABLE_STATES:
            return NO_PASSES
        services = context.services
        return pass_paths(services.wallet_keys, kind, owner, token, services.clock.now())

    def apple(context: Context, state: str, token: str, issuer_id: int) -> str | None:
        path = paths_of(context, state, token, issuer_id).apple
        return f"{context.services.public_url}{path}" if path else None

    def google(context: Context, state: str, token: str, issuer_id: int) -> str | None:
        path = paths_of(context, state, token, issuer_id).google
        return f"{context.services.public_url}{path}" if path else None

    derives(published, "apple_wallet_url")(apple)
    derives(published, "google_wallet_url")(google)


_derive_urls(Voucher, DocumentKind.VOUCHER, of_network=False)
_derive_urls(GiftCard, DocumentKind.GIFT_CARD, of_network=False)
_derive_urls(NetworkGiftCard, DocumentKind.GIFT_CARD, of_network=True)
_derive_urls(NetworkVoucher, DocumentKind.NETWORK_VOUCHER, of_network=True)
