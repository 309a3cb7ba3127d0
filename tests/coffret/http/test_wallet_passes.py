"""Passes for Apple Wallet and Google Wallet: as telephones and Google check them, beside the documents."""

import base64
import datetime as dt
import hashlib
import io
import json
import pathlib
import subprocess
import zipfile
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from PIL import Image

from coffret.development.wallet_keys import ISSUER, PASS_TYPE, TEAM, write_test_keys
from coffret.http.documents import HEADERS
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.validation.languages import LANGUAGES
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.core.codes import document_token
from store.core.rates import Rate
from store.core.settings import Settings
from store.core.telemetry.logs import mask_secrets
from store.document.addresses import DocumentKind, apple_pass_path, google_pass_path
from store.document.wallet.google import LONGEST_TOKEN, SAVE_URL
from store.document.wallet.keys import WalletKeys, read_apple_key
from store.limits.rate_limits import RateLimit
from store.media.media import media_path_of
from tests.fixtures.document import UNTIL, gift_card, pictured, prototype, voucher
from tests.fixtures.network_prints import box_of, card_of, design_of, voucher_of
from tests.fixtures.shop import Shop

VOUCHER, CARD, NETWORK_VOUCHER = DocumentKind.VOUCHER, DocumentKind.GIFT_CARD, DocumentKind.NETWORK_VOUCHER


@pytest.fixture
def app_settings(database_url: str, tmp_path: pathlib.Path, wallet_dir: pathlib.Path) -> Settings:
    """Those of an installation with keys."""
    return Settings(database_url=database_url, data_dir=tmp_path, funnel_scheme="http", wallet_dir=wallet_dir)


async def files_of(client: httpx.AsyncClient, kind: DocumentKind, row: Any) -> dict[str, bytes]:
    """The files in the pass of a voucher or gift card."""
    answer = await client.get(apple_pass_path(kind, row.document_token))
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/vnd.apple.pkpass"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


async def pass_of(client: httpx.AsyncClient, kind: DocumentKind, row: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((await files_of(client, kind, row))["pass.json"])
    return found


def fields_of(content: dict[str, Any], style: str, *places: str) -> dict[str, str]:
    """The values of the fields at some places by their labels."""
    return {
        field["label"]: field["value"].replace("\xa0", " ")
        for place in places
        for field in content[style][f"{place}Fields"]
    }


async def claims_of(client: httpx.AsyncClient, kind: DocumentKind, row: Any, folder: pathlib.Path) -> dict[str, Any]:
    """The verified claims of a save link."""
    answer = await client.get(google_pass_path(kind, row.document_token))
    assert answer.status_code == 303, answer.text
    assert answer.headers["cache-control"] == "no-store"
    token = answer.headers["location"].removeprefix(SAVE_URL)
    assert len(token) <= LONGEST_TOKEN
    signed, _, signature = token.rpartition(".")
    key = load_pem_private_key(json.loads((folder / "google.json").read_bytes())["private_key"].encode(), None)
    public: Any = key.public_key()
    public.verify(decoded(signature), signed.encode(), PKCS1v15(), SHA256())
    header, claims = (json.loads(decoded(part)) for part in signed.split("."))
    assert header == {"alg": "RS256", "typ": "JWT"}
    assert (claims["aud"], claims["typ"], claims["iss"]) == ("google", "savetowallet", "test@coffret.invalid")
    assert abs(claims["iat"] - clock.timestamp()) < 60
    payload: dict[str, Any] = claims["payload"]
    return payload


def decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


# ---- Apple Wallet


async def test_a_pass_is_signed_as_telephones_check_it(
    app_shop: Shop, client: httpx.AsyncClient, wallet_dir: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    files = await files_of(client, CARD, await gift_card(app_shop))
    manifest = json.loads(files["manifest.json"])
    assert manifest.keys() == files.keys() - {"manifest.json", "signature"}
    assert {name: hashlib.sha1(files[name]).hexdigest() for name in manifest} == manifest  # noqa: S324 - the format's
    key = read_apple_key(wallet_dir / "apple.pem")
    for name, content in {
        "manifest": files["manifest.json"],
        "signature": files["signature"],
        "root.pem": key.issuers[0].public_bytes(Encoding.PEM),
    }.items():
        (tmp_path / name).write_bytes(content)

    def openssl(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["openssl", "cms", *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    def verified(content: str) -> subprocess.CompletedProcess[str]:
        """Without a certificate of ours but the root: the others come with the signature."""
        how = [
            "-verify",
            "-binary",
            "-inform",
            "DER",
            "-purpose",
            "any",
            "-CAfile",
            "root.pem",
            "-signer",
            "signer.pem",
        ]
        return openssl(*how, "-in", "signature", "-content", content)

    assert verified("manifest").returncode == 0, verified("manifest").stderr
    assert (tmp_path / "signer.pem").read_bytes().strip() == key.certificate.public_bytes(Encoding.PEM).strip()
    printed = openssl("-cmsout", "-print", "-inform", "DER", "-in", "signature").stdout
    assert "signingTime" in printed
    assert printed.count("cert_info:") == 2, "the signer's certificate and the one above it"
    assert "eContent: <ABSENT>" in printed, "the signature is detached"
    (tmp_path / "other").write_bytes(files["manifest.json"].replace(b"a", b"b"))
    assert verified("other").returncode != 0


async def test_the_pass_of_a_voucher_shows_what_its_document_shows(app_shop: Shop, client: httpx.AsyncClient) -> None:
    await app_shop.execute("UPDATE partner SET accent_colour = '#ffe08a'")
    row = await voucher(app_shop, await prototype(app_shop))
    made = await pass_of(client, VOUCHER, row)
    assert (made["formatVersion"], made["passTypeIdentifier"], made["teamIdentifier"]) == (1, PASS_TYPE, TEAM)
    assert (made["organizationName"], made["description"]) == ("The Shop", "Gift voucher – A night above the lake")
    assert made["voided"] is False
    assert dt.datetime.fromisoformat(made["expirationDate"]) == UNTIL
    assert (made["backgroundColor"], made["foregroundColor"]) == ("rgb(255, 224, 138)", "rgb(0, 0, 0)")
    (barcode,) = made["barcodes"]
    assert barcode == {
        "format": "PKBarcodeFormatQR",
        "message": f"http://{app_shop.partner.site_domain}/redeem/?code={row.normal_code}",
        "messageEncoding": "utf-8",
        "altText": row.code,
    }
    assert fields_of(made, "generic", "header") == {"Valid until": "23 August 2027"}
    assert fields_of(made, "generic", "primary") == {"Gift voucher": "A night above the lake"}
    assert fields_of(made, "generic", "secondary", "auxiliary") == {
        "For": "Claire Dubois",
        "Gift voucher": "2 adults · 1 child · 1 night",
        "Code": row.code,
    }
    back = fields_of(made, "generic", "back")
    assert back["Conditions"] == "Not on public holidays."
    assert back["How to book"] == "Call us."
    assert back["To print"].endswith(f"/documents/vouchers/{row.document_token}.pdf")
    assert "Ada & Jean" in back["From"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_the_pass_of_a_gift_card_speaks_the_language_of_the_purchase(
    app_shop: Shop, client: httpx.AsyncClient, language: str
) -> None:
    card = await gift_card(app_shop, language=language)
    made = await pass_of(client, CARD, card)
    (balance,) = made["storeCard"]["primaryFields"]
    assert "150" in balance["value"]
    assert "€" in balance["value"]
    assert ("Balance on" in balance["label"]) == (language == "en")
    assert "%" not in json.dumps(made["storeCard"], ensure_ascii=False)


async def test_the_pass_of_a_gift_card_has_its_design(
    app_shop: Shop, client: httpx.AsyncClient, wallet_dir: pathlib.Path
) -> None:
    design = await design_of(app_shop, "#993311", partner_id=app_shop.partner.id)
    card = await gift_card(app_shop, design_id=design.id)
    files = await files_of(client, CARD, card)
    made = json.loads(files["pass.json"])
    assert (made["organizationName"], made["backgroundColor"]) == ("The Shop", "rgb(138, 40, 70)")
    assert fields_of(made, "storeCard", "secondary")["Gift card"] == "Happy birthday"
    with Image.open(io.BytesIO(files["thumbnail.png"])) as thumbnail:
        middle = thumbnail.convert("RGB").getpixel((thumbnail.width // 2, thumbnail.height // 2))
    assert middle == pytest.approx((0x99, 0x33, 0x11), abs=6)
    (of_google,) = (await claims_of(client, CARD, card, wallet_dir))["giftCardClasses"]
    assert of_google["hexBackgroundColor"] == "#8a2846"
    plain = await files_of(client, CARD, await gift_card(app_shop))
    assert json.loads(plain["pass.json"])["backgroundColor"] != made["backgroundColor"]
    assert "thumbnail.png" not in plain


async def test_the_balance_is_that_of_now(app_shop: Shop, client: httpx.AsyncClient, wallet_dir: pathlib.Path) -> None:
    card = await gift_card(app_shop)
    await app_shop.execute("UPDATE gift_card SET remaining_amount = 30, status = 'using' WHERE id = :id", id=card.id)
    made = await pass_of(client, CARD, card)
    assert next(iter(fields_of(made, "storeCard", "primary").values())) == "€30.00"
    (of_google,) = (await claims_of(client, CARD, card, wallet_dir))["giftCardObjects"]
    assert of_google["balance"] == {"micros": "30000000", "currencyCode": "EUR"}


async def test_a_pass_keeps_its_serial_number_when_its_document_gets_a_new_address(
    app_shop: Shop, client: httpx.AsyncClient
) -> None:
    row, other = await gift_card(app_shop), await gift_card(app_shop)
    first = await pass_of(client, CARD, row)
    assert first["serialNumber"] != (await pass_of(client, CARD, other))["serialNumber"]
    old, row.document_token = row.document_token, document_token()
    await app_shop.execute("UPDATE gift_card SET document_token = :t WHERE id = :id", t=row.document_token, id=row.id)
    assert (await pass_of(client, CARD, row))["serialNumber"] == first["serialNumber"]
    assert (await client.get(apple_pass_path(CARD, old))).status_code == 404


async def test_its_pictures_have_the_sizes_of_telephones(app_shop: Shop, client: httpx.AsyncClient) -> None:
    of = await prototype(app_shop)
    (logo, *_) = await pictured(app_shop, of, "#224466")
    lettered = await files_of(client, VOUCHER, await voucher(app_shop, of))
    assert json.loads(lettered["pass.json"])["logoText"] == "The Shop"
    await app_shop.execute("UPDATE partner SET logo_url = :url", url=media_path_of(logo.uuid, "cover"))  # type: ignore[arg-type]
    files = await files_of(client, VOUCHER, await voucher(app_shop, of))
    assert "logoText" not in json.loads(files["pass.json"])
    assert files["icon.png"] != lettered["icon.png"]
    for name, (width, height) in {"icon": (29, 29), "logo": (160, 50), "thumbnail": (90, 90)}.items():
        for ending, scale in {"": 1, "@2x": 2, "@3x": 3}.items():
            for content in (files, lettered):
                with Image.open(io.BytesIO(content[f"{name}{ending}.png"])) as picture:
                    assert picture.format == "PNG"
                    assert picture.height == height * scale
                    assert picture.width <= width * scale


async def test_what_can_no_longer_be_used_has_a_void_pass_without_a_code_to_scan(
    app_shop: Shop, client: httpx.AsyncClient, wallet_dir: pathlib.Path
) -> None:
    now = clock.now()
    of, late = await prototype(app_shop), now - dt.timedelta(days=1)
    box = await box_of(app_shop)
    for kind, row, state in (
        (VOUCHER, await voucher(app_shop, of, state=VoucherState.USED, used_on=now), "COMPLETED"),
        (VOUCHER, await voucher(app_shop, of, refunded_on=now), "COMPLETED"),
        (VOUCHER, await voucher(app_shop, of, expires_on=late), "EXPIRED"),
        (CARD, await gift_card(app_shop, status=GiftCardStatus.USED), "COMPLETED"),
        (CARD, await card_of(app_shop, status=GiftCardStatus.EXPIRED, expires_on=late), "EXPIRED"),
        (NETWORK_VOUCHER, await voucher_of(app_shop, box, usable_until=late), "EXPIRED"),
    ):
        made = await pass_of(client, kind, row)
        assert made["voided"] is True, (kind, row.id)
        assert "barcodes" not in made
        payload = await claims_of(client, kind, row, wallet_dir)
        (of_google,) = payload.get("genericObjects") or payload["giftCardObjects"]
        assert of_google["state"] == state
        assert "barcode" not in of_google


async def test_what_has_no_document_has_no_pass(app_shop: Shop, client: httpx.AsyncClient) -> None:
    box = await box_of(app_shop)
    for kind, token in (
        (CARD, (await gift_card(app_shop, status=GiftCardStatus.CANCELLED)).document_token),
        (CARD, (await gift_card(app_shop, status=GiftCardStatus.DRAFT)).document_token),
        (NETWORK_VOUCHER, (await voucher_of(app_shop, box, status=NetworkVoucherStatus.CANCELLED)).document_token),
        (VOUCHER, document_token()),
    ):
        for path in (apple_pass_path(kind, token), google_pass_path(kind, token)):
            assert (await client.get(path)).status_code == 404
    receipt = apple_pass_path(DocumentKind.RECEIPT, document_token())
    assert (await client.get(receipt)).status_code == 404


# ---- networks


async def test_the_passes_of_a_network_say_who_it_is(
    app_shop: Shop, client: httpx.AsyncClient, wallet_dir: pathlib.Path
) -> None:
    design = await design_of(app_shop)
    card, held = await card_of(app_shop, design_id=design.id), await voucher_of(app_shop, await box_of(app_shop))
    made = await pass_of(client, CARD, card)
    assert (made["organizationName"], made["backgroundColor"]) == ("Market", "rgb(138, 40, 70)")
    assert made["barcodes"][0]["message"] == card.code
    assert fields_of(made, "storeCard", "secondary")["Gift card"] == "Happy birthday"
    boxed = await pass_of(client, NETWORK_VOUCHER, held)
    assert fields_of(boxed, "generic", "primary") == {"Gift voucher": "Spa day for two"}
    assert "€120" not in str(fields_of(boxed, "generic", "primary", "secondary", "auxiliary")), "it is a present"
    (of_google,) = (await claims_of(client, NETWORK_VOUCHER, held, wallet_dir))["genericObjects"]
    assert of_google["classId"] == f"{ISSUER}.networks-{held.marketplace_id}-vouchers"


# ---- Google Wallet


async def test_a_save_link_has_the_pass_and_its_class(
    app_shop: Shop, client: httpx.AsyncClient, wallet_dir: pathlib.Path
) -> None:
    row = await voucher(app_shop, await prototype(app_shop))
    payload = await claims_of(client, VOUCHER, row, wallet_dir)
    (kind,), (made,) = payload["genericClasses"], payload["genericObjects"]
    assert made["classId"] == kind["id"] == f"{ISSUER}.partners-{app_shop.partner.id}-vouchers"
    assert made["id"].startswith(f"{ISSUER}.")
    assert made["state"] == "ACTIVE"
    assert made["cardTitle"]["defaultValue"] == {"language": "en", "value": "The Shop"}
    assert made["header"]["defaultValue"]["value"] == "A night above the lake"
    assert made["barcode"]["alternateText"] == row.code
    assert dt.datetime.fromisoformat(made["validTimeInterval"]["end"]["date"]) == UNTIL
    told = {field["header"]: field["body"] for field in made["textModulesData"]}
    assert told["Valid until"] == "23 August 2027"
    assert told["For"] == "Claire Dubois"


async def test_a_save_link_is_never_too_long_for_a_browser(
    app_shop: Shop, client: httpx.AsyncClient, wallet_dir: pathlib.Path
) -> None:
    of = await prototype(app_shop)
    row = await voucher(app_shop, of, message="é" * 900, to_giftee="Ñ" * 150)
    (made,) = (await claims_of(client, VOUCHER, row, wallet_dir))["genericObjects"]
    assert made["textModulesData"][0]["id"] == "validity"
    assert {field["id"] for field in made["textModulesData"]}.isdisjoint({"sender", "terms-0"}), "they do not fit"
    card = await gift_card(app_shop)
    (made,) = (await claims_of(client, CARD, card, wallet_dir))["giftCardObjects"]
    assert (made["cardNumber"], made["barcode"]["alternateText"]) == (card.code, card.code)
    assert "code" not in {field["id"] for field in made["textModulesData"]}, "once is enough"


# ---- who may, and whose keys


async def test_the_address_is_guarded_like_that_of_the_document(app_shop: Shop, client: httpx.AsyncClient) -> None:
    row = await voucher(app_shop, await prototype(app_shop))
    answer = await client.get(apple_pass_path(VOUCHER, row.document_token))
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert answer.headers["content-disposition"].startswith('inline; filename="Gift voucher The Shop.pkpass"')
    for path in (apple_pass_path(VOUCHER, row.document_token), google_pass_path(VOUCHER, row.document_token)):
        assert row.document_token not in mask_secrets(f"GET {path} 200")
    answers = [(await client.get(apple_pass_path(VOUCHER, document_token()))).status_code for _ in range(21)]
    assert answers == [404] * 20 + [429]
    assert (await client.get(google_pass_path(VOUCHER, row.document_token))).status_code == 429


async def test_one_address_gets_only_so_many_passes(app_shop: Shop, client: httpx.AsyncClient) -> None:
    limits = app_shop.services.limits
    limits.pages = RateLimit("page", Rate(2, 3600), limits.counters, clock)
    path = apple_pass_path(CARD, (await gift_card(app_shop)).document_token)
    answers = [await client.get(path) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) > 0


async def test_the_keys_of_a_partner_go_before_those_of_the_installation(
    tmp_path: pathlib.Path, wallet_dir: pathlib.Path
) -> None:
    (tmp_path / "apple.pem").write_bytes((wallet_dir / "apple.pem").read_bytes())
    write_test_keys(tmp_path / "partners" / "7", pass_type="pass.test.seven")
    keys, now = WalletKeys(tmp_path), clock.now()
    own, common = keys.apple("partners/7", now), keys.apple("networks/7", now)
    assert own is not None
    assert common is not None
    assert (own.pass_type, common.pass_type) == ("pass.test.seven", PASS_TYPE)
    assert keys.google("partners/7") is not None
    assert keys.google("partners/8") is None
    assert keys.apple("partners/7", own.expires_on) is common or own.expires_on >= common.expires_on
    assert WalletKeys(None).apple("partners/7", now) is None
