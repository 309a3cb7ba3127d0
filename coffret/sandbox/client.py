"""The platform itself: its data, its wallets of fees and credit, and all movements."""

import json
from typing import Annotated

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import ledger, movements
from coffret.sandbox.wire.bodies import AddressBody, Body, Email, Text, Url
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint, WirePage
from coffret.sandbox.wire.errors import ResourceNotFound
from coffret.sandbox.wire.paging import cut

FUNDS = {"FEES": ledger.FEES, "CREDIT": ledger.CREDIT}
"""The kinds of funds, each with its account in the ledger."""
Colour = Annotated[str, Field(pattern="^#[0-9A-Fa-f]{6}$")]


class Categorization(Body):
    """The business of the platform."""

    business_type: Text | None = None
    sector: Text | None = None


class ChangedClient(Body):
    """The body of PUT /clients. Omitted fields are unchanged."""

    primary_theme_colour: Colour | None = None
    primary_button_colour: Colour | None = None
    admin_emails: list[Email] | None = None
    tech_emails: list[Email] | None = None
    billing_emails: list[Email] | None = None
    fraud_emails: list[Email] | None = None
    headquarters_address: AddressBody | None = None
    headquarters_phone_number: Text | None = None
    tax_number: Text | None = None
    platform_categorization: Categorization | None = None
    platform_url: Annotated[Url | None, Field(alias="PlatformURL")] = None
    platform_description: Text | None = None


def read(session: SandboxSession, _call: HttpCall) -> Json:
    """GET /clients"""
    return present(session)


def update(session: SandboxSession, call: HttpCall) -> Json:
    """PUT /clients"""
    written = {name: value for name, value in call.json(ChangedClient).to_wire().items() if value is not None}
    session.set_value("client", json.dumps(stored(session) | written))
    return present(session)


def stored(session: SandboxSession) -> Json:
    """The fields that were changed."""
    fields: Json = json.loads(session.get_value("client", "{}"))
    return fields


def present(session: SandboxSession) -> Json:
    """The platform in the provider's format."""
    return {
        "ClientId": session.settings.client_id,
        "Name": session.settings.client_id,
        "RegisteredName": session.settings.client_id,
        "PlatformType": "MARKETPLACE",
        "Logo": None,
        "CompanyReference": None,
        "Licensor": "MGP-EU",
        **dict.fromkeys(str(field.alias) for field in ChangedClient.model_fields.values()),
        **stored(session),
    }


def balances(session: SandboxSession) -> dict[tuple[str, str], int]:
    """The balance of each wallet of the platform, by kind of funds and currency."""
    rows = session.rows("SELECT DISTINCT currency FROM posting WHERE account IN (?, ?)", *FUNDS.values())
    currencies = sorted({"EUR", *(str(row["currency"]) for row in rows)})
    return {
        (funds, currency): ledger.balance(session, account, currency)
        for funds, account in FUNDS.items()
        for currency in currencies
    }


def wallet(funds: str, currency: str, balance: int) -> Json:
    """A wallet of the platform in the provider's format."""
    return {
        "Id": f"{funds}_{currency}",
        "FundsType": funds,
        "Currency": currency,
        "Balance": {"Currency": currency, "Amount": balance},
        "Owners": [],
        "Description": None,
        "Tag": None,
        "CreationDate": None,
    }


def list_wallets(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /clients/wallets"""
    return page_of(session, call, tuple(FUNDS))


def list_of_funds(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /clients/wallets/{funds}"""
    return page_of(session, call, (known_funds(call),))


def page_of(session: SandboxSession, call: HttpCall, kinds: tuple[str, ...]) -> WirePage:
    """One page of the wallets of these kinds of funds."""
    found = [wallet(funds, currency, held) for (funds, currency), held in balances(session).items() if funds in kinds]
    return cut(call, found)


def known_funds(call: HttpCall) -> str:
    """The kind of funds in the path. Raises ResourceNotFound."""
    funds = call.path["funds"].upper()
    if funds not in FUNDS:
        raise ResourceNotFound
    return funds


def read_wallet(session: SandboxSession, call: HttpCall) -> Json:
    """GET /clients/wallets/{funds}/{currency}"""
    funds, currency = known_funds(call), call.path["currency"].upper()
    return wallet(funds, currency, balances(session).get((funds, currency), 0))


def wallet_transactions(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /clients/wallets/{funds}/{currency}/transactions: movements that changed the wallet's balance"""
    return movements.listing(
        session,
        call,
        "id IN (SELECT movement_id FROM posting WHERE account = ? AND currency = ?)",
        FUNDS[known_funds(call)],
        call.path["currency"].upper(),
    )


def transactions(session: SandboxSession, call: HttpCall) -> WirePage:
    """GET /clients/transactions"""
    return movements.listing(session, call, "1")


ENDPOINTS = (
    WireEndpoint("GET", "/clients", read),
    WireEndpoint("PUT", "/clients", update),
    WireEndpoint("GET", "/clients/wallets", list_wallets),
    WireEndpoint("GET", "/clients/wallets/{funds}", list_of_funds),
    WireEndpoint("GET", "/clients/wallets/{funds}/{currency}", read_wallet),
    WireEndpoint("GET", "/clients/wallets/{funds}/{currency}/transactions", wallet_transactions),
    WireEndpoint("GET", "/clients/transactions", transactions),
)
