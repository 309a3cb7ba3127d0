"""Conversions of money from a wallet of one currency to a wallet of another, at once or by a quote."""

from typing import Literal

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.exchange import quotes
from coffret.sandbox.exchange.quotes import ACTIVE, QUOTES, ConversionTerms
from coffret.sandbox.payments import movements, platform, results, wallets
from coffret.sandbox.users import users
from coffret.sandbox.wire.bodies import Body, Id, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

Funds = Literal["FEES", "CREDIT"]


class BetweenWallets(Body):
    """The wallets of a user's conversion."""

    author_id: Id
    debited_wallet_id: Id
    credited_wallet_id: Id


class BetweenClientWallets(Body):
    """The wallets of a conversion of the platform."""

    debited_wallet_type: Funds
    credited_wallet_type: Funds


class Quoted(Body):
    """The price of a conversion by a quote."""

    quote_id: Id
    tag: Tag | None = None


class InstantConversion(ConversionTerms, BetweenWallets):
    """The body of POST /conversions/instant-conversion."""


class QuotedConversion(Quoted, BetweenWallets):
    """The body of POST /conversions/quoted-conversion."""


class ClientInstantConversion(ConversionTerms, BetweenClientWallets):
    """The body of POST /clients/conversions/instant-conversion."""


class ClientQuotedConversion(Quoted, BetweenClientWallets):
    """The body of POST /clients/conversions/quoted-conversion."""


def instant(session: SandboxSession, call: HttpCall) -> Json:
    """POST /conversions/instant-conversion"""
    body = call.json(InstantConversion)
    return convert(session, call, body, quotes.price(session, body), body.tag)


def quoted(session: SandboxSession, call: HttpCall) -> Json:
    """POST /conversions/quoted-conversion"""
    body = call.json(QuotedConversion)
    return convert(session, call, body, use_quote(session, body), body.tag)


def client_instant(session: SandboxSession, call: HttpCall) -> Json:
    """POST /clients/conversions/instant-conversion"""
    body = call.json(ClientInstantConversion)
    return convert_client(session, call, body, quotes.price(session, body), body.tag)


def client_quoted(session: SandboxSession, call: HttpCall) -> Json:
    """POST /clients/conversions/quoted-conversion"""
    body = call.json(ClientQuotedConversion)
    return convert_client(session, call, body, use_quote(session, body), body.tag)


def use_quote(session: SandboxSession, body: Quoted) -> Json:
    """The price of a quote, which can be used once. Raises ParamError."""
    quote = QUOTES.require(session, "QuoteId", body.quote_id)
    if quote["Status"] != ACTIVE:
        raise ParamError({"QuoteId": f"The quote is {quote['Status']}."})
    QUOTES.await_end(session, quote["Id"], None)
    QUOTES.change(session, quote["Id"], {"Status": "USED"})
    kept = ("DebitedFunds", "CreditedFunds", "Fees", "RequestedFees", "ConversionRateResponse", "MarginsResponse")
    return {**{name: quote[name] for name in kept}, "QuoteId": quote["Id"]}


def convert(session: SandboxSession, call: HttpCall, body: BetweenWallets, price: Json, tag: str | None) -> Json:
    """Convert between the wallets of a user."""
    users.require_user_name(session, "AuthorId", body.author_id)
    for field, id, funds in (
        ("DebitedWalletId", body.debited_wallet_id, "DebitedFunds"),
        ("CreditedWalletId", body.credited_wallet_id, "CreditedFunds"),
    ):
        wallet = wallets.require_wallet(session, field, id, price[funds]["Currency"])
        if wallet["owner_id"] != body.author_id:
            raise ParamError({field: "The AuthorId must be the owner of both wallets."})
    return post(session, call, body.author_id, price, tag, (body.debited_wallet_id, body.credited_wallet_id))


def convert_client(
    session: SandboxSession, call: HttpCall, body: BetweenClientWallets, price: Json, tag: str | None
) -> Json:
    """Convert between wallets of the platform."""
    debited = f"{body.debited_wallet_type}_{price['DebitedFunds']['Currency']}"
    credited = f"{body.credited_wallet_type}_{price['CreditedFunds']['Currency']}"
    return post(session, call, platform.user_id(session), price, tag, (debited, credited))


def post(
    session: SandboxSession, call: HttpCall, author_id: str, price: Json, tag: str | None, wallets: tuple[str, str]
) -> Json:
    """Create the conversion, which ends at once."""
    debited, credited = wallets
    id, currency = session.mint("conversion_m_"), price["DebitedFunds"]["Currency"]
    owned = author_id != platform.user_id(session)
    movements.create(
        session,
        movements.NewMovement(
            id=id,
            type="CONVERSION",
            nature="REGULAR",
            author_id=author_id,
            credited_user_id=author_id,
            debited_wallet_id=debited if owned else None,
            credited_wallet_id=credited if owned else None,
            currency=currency,
            debited=price["DebitedFunds"]["Amount"],
            fees=price["Fees"]["Amount"],
            tag=tag,
            body={"DebitedWalletId": debited, "CreditedWalletId": credited, "QuoteId": None, **price},
        ),
    )
    enough = price["DebitedFunds"]["Amount"] <= movements.available(session, debited, currency)
    movements.finish(session, id, call.fail_with or (results.SUCCESS if enough else results.INSUFFICIENT_WALLET))
    return movements.read(session, id)


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /conversions/{id}"""
    return movements.read(session, call.path["id"], type="CONVERSION")


ENDPOINTS = (
    WireEndpoint("POST", "/conversions/instant-conversion", instant),
    WireEndpoint("POST", "/conversions/quoted-conversion", quoted),
    WireEndpoint("POST", "/clients/conversions/instant-conversion", client_instant),
    WireEndpoint("POST", "/clients/conversions/quoted-conversion", client_quoted),
    WireEndpoint("GET", "/conversions/{id}", read),
)
