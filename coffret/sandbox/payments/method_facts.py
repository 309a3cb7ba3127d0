"""What the provider tells of payment methods: the issuer of a card, the banks of open banking, data kept for PayPal."""

from typing import Annotated, Literal

from pydantic import Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.payments import registered_cards
from coffret.sandbox.payments.cards import CARDS
from coffret.sandbox.resources import Collection
from coffret.sandbox.wire.bodies import Body
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import NotModelled, ParamError
from coffret.sandbox.wire.paging import cut, several

COLLECTED = Collection("paypal/data-collection", "", "dataCollectionId")
BANKS = {
    "DE": ("Deutsche Sandbox", "Sandkasten-Bank", "Sparkasse Beispiel", "Testbank Nord", "Volksbank Musterstadt"),
    "FR": ("Banque du Sable", "Crédit de Démonstration"),
    "NL": ("Voorbeeldbank", "Zandbank"),
}
"""Invented banks, by country."""
SCHEMES = ["SEPA_CREDIT_TRANSFER", "SEPA_INSTANT_CREDIT_TRANSFER"]


class MetadataRequest(Body):
    """The body of POST /payment-methods/metadata."""

    any_case = frozenset({"BIN"})

    type: Literal["BIN", "GOOGLE_PAY"]
    bin: Annotated[str | None, Field(alias="Bin", pattern=r"^\d{6,8}$")] = None


def metadata(_session: SandboxSession, call: HttpCall) -> Json:
    """POST /payment-methods/metadata: of the first digits of a test card"""
    body = call.json(MetadataRequest)
    if body.type != "BIN":
        raise NotModelled("The sandbox does not model the metadata of Google Pay.")
    card = next((card for card in CARDS if body.bin and card.number.startswith(body.bin)), None)
    if card is None:
        raise ParamError({"Bin": "The Bin must be that of a test card."})
    told = registered_cards.info(card)
    return {
        "Type": body.type,
        "Bin": body.bin,
        "TokenFormat": None,
        "IssuerCountryCode": told["IssuerCountryCode"],
        "IssuingBank": told["IssuingBank"],
        "BinData": [{"CardType": told["Type"], "Subtype": told["SubType"], "Brand": told["Brand"]}],
    }


def supported_banks(_session: SandboxSession, call: HttpCall) -> Json:
    """GET /payment-methods/openbanking/metadata/supported-banks: of all or of some countries, in pages"""
    asked = several(call, "CountryCodes") or list(BANKS)
    countries = [
        {
            "Country": country,
            "Banks": cut(call, [{"BankName": name, "Scheme": SCHEMES, "Name": name} for name in BANKS[country]]).items,
        }
        for country in asked
        if country in BANKS
    ]
    return {"SupportedBanks": {"Countries": countries}}


def collect(session: SandboxSession, call: HttpCall) -> Json:
    """POST /payins/payment-methods/paypal/data-collection: keeps what it is given"""
    return COLLECTED.add(session, call.object())


def read_collected(session: SandboxSession, call: HttpCall) -> Json:
    """GET /payins/payment-methods/paypal/data-collection/{id}: the SDKs read the id in two spellings"""
    found = COLLECTED.read(session, call)
    return {**found, "DataCollectionId": found[COLLECTED.id_field]}


ENDPOINTS = (
    WireEndpoint("POST", "/payment-methods/metadata", metadata),
    WireEndpoint("GET", "/payment-methods/openbanking/metadata/supported-banks", supported_banks),
    WireEndpoint("POST", "/payins/payment-methods/paypal/data-collection", collect),
    WireEndpoint("GET", "/payins/payment-methods/paypal/data-collection/{id}", read_collected),
)
