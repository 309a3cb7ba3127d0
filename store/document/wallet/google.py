"""Save links for Google Wallet: a signed token (JWT, RS256) with the pass and its class."""

import base64
import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import orjson

from store.document.wallet.content import PassContent, PassField
from store.document.wallet.keys import GoogleKey

SAVE_URL = "https://pay.google.com/gp/v/save/"
LONGEST_TOKEN = 1800
"""The longest token, in characters, that Google promises to take in an address."""
MICROS = 1_000_000
"""The units that Google counts amounts in, in one of the currency."""


def google_save_url(content: PassContent, key: GoogleKey) -> str:
    """The address where a customer saves the pass. Texts that would make it too long are left out, the last ones first."""
    code = (
        [] if content.is_gift_card else [field for field in content.facts if field.key == "code"]
    )  # a card has it anyway
    facts = [content.validity, *(field for field in content.facts if field.key != "code"), *code]
    modules = [*facts, *sorted(content.details, key=lambda field: field.key != "document")]
    while len(token := _token(content, key, modules)) > LONGEST_TOKEN and modules:
        modules.pop()
    return f"{SAVE_URL}{token}"


def _token(content: PassContent, key: GoogleKey, modules: list[PassField]) -> str:
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.hashes import SHA256

    claims = {
        "iss": key.account,
        "aud": "google",
        "typ": "savetowallet",
        "iat": int(content.read_on.timestamp()),
        "payload": _payload(content, key, modules),
    }
    signed = f"{_encode({'alg': 'RS256', 'typ': 'JWT'})}.{_encode(claims)}"
    return f"{signed}.{_base64_url(key.key.sign(signed.encode(), PKCS1v15(), SHA256()))}"


def _payload(content: PassContent, key: GoogleKey, modules: list[PassField]) -> dict[str, Any]:
    class_id = f"{key.issuer}.{content.owner.replace('/', '-')}-{'gift-cards' if content.is_gift_card else 'vouchers'}"
    made = _object(content, key, modules) | {"classId": class_id}
    if not content.is_gift_card:
        return {"genericClasses": [{"id": class_id}], "genericObjects": [made]}
    name = content.sheet.look.name
    kind = {"id": class_id, "issuerName": name, "merchantName": name, "reviewStatus": "UNDER_REVIEW"}
    return {
        "giftCardClasses": [kind | {"hexBackgroundColor": content.sheet.look.accent}],
        "giftCardObjects": [made],
    }


def _object(content: PassContent, key: GoogleKey, modules: list[PassField]) -> dict[str, Any]:
    sheet = content.sheet
    made: dict[str, Any] = {
        "id": f"{key.issuer}.{content.serial}",
        "state": _state(content),
        "validTimeInterval": _interval(content.starts_on, content.expires_on),
        "textModulesData": [
            {"id": field.key, "header": field.label, "body": field.value}
            for field in modules
            if field.key != "document"
        ],
        "linksModuleData": {
            "uris": [
                {"id": field.key, "uri": field.value, "description": field.label}
                for field in modules
                if field.key == "document"
            ]
        },
        **(_card_fields(content) if content.is_gift_card else _voucher_fields(content)),
    }
    if not content.is_void:
        made["barcode"] = {"type": "QR_CODE", "value": sheet.scanned, "alternateText": sheet.code}
    return {name: value for name, value in made.items() if value not in ({}, [], {"uris": []})}


def _card_fields(content: PassContent) -> dict[str, Any]:
    amount = content.balance or Decimal(0)
    return {
        "cardNumber": content.sheet.code,
        "balance": {"micros": str(int(amount * MICROS)), "currencyCode": content.currency},
        "balanceUpdateTime": {"date": _moment(content.read_on)},
    }


def _voucher_fields(content: PassContent) -> dict[str, Any]:
    language = content.sheet.language
    return {
        "cardTitle": _translated_text(language, content.sheet.look.name),
        "subheader": _translated_text(language, content.title.label),
        "header": _translated_text(language, content.title.value),
        "hexBackgroundColor": content.sheet.look.accent,
    }


def _state(content: PassContent) -> str:
    if not content.is_void:
        return "ACTIVE"
    is_late = content.expires_on is not None and content.expires_on <= content.read_on
    return "EXPIRED" if is_late else "COMPLETED"


def _interval(starts_on: dt.datetime | None, expires_on: dt.datetime | None) -> dict[str, Any]:
    ends = (("start", starts_on), ("end", expires_on))
    return {name: {"date": _moment(moment)} for name, moment in ends if moment is not None}


def _moment(moment: dt.datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _translated_text(language: str, text: str) -> dict[str, Any]:
    return {"defaultValue": {"language": language, "value": text}}


def _encode(content: Mapping[str, Any]) -> str:
    return _base64_url(orjson.dumps(content))


def _base64_url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
