"""The network of the demo data: in every status, with its money right, and with codes and a shop that work."""

import re
from collections.abc import Iterator
from decimal import Decimal

import pytest
from sqlalchemy import text
from starlette.applications import Starlette

from coffret.demo import large
from coffret.demo.large import add_large_partner
from coffret.demo.network.content import LANGUAGES, load_network
from coffret.demo.network.rows import SHOP_HOST
from coffret.demo.network.seed import CARDS, VOUCHERS, WALLET
from coffret.demo.seed import DemoData, seed
from schema.network.box import OfferStatus
from schema.network.gift_card import NetworkGiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from store.core.brand_colours import MIN_CONTRAST, contrast
from store.core.clock import clock
from store.core.codes import looks_valid
from store.core.settings import Settings
from store.core.settings.provider import SANDBOX_PLATFORM_USER
from store.database.db import Database
from tests.fixtures.ledger import broken_rules

CONTENT = load_network()
FIRST = ("Maison Valserène", "Table Cardamine")


async def names(database: Database, statement: str) -> set[str]:
    return {row[0] for row in await database.rows(text(f"SELECT {statement}"))}


async def number(database: Database, statement: str) -> int:
    return int((await database.rows(text(f"SELECT count(*) FROM {statement}")))[0][0])  # noqa: S608 - a test's words


def texts() -> Iterator[tuple[str, dict[str, str]]]:
    """Every text, with where it stands."""
    yield "terms of use", CONTENT.terms_of_use
    yield from CONTENT.details.items()
    for at, design in enumerate(CONTENT.designs):
        yield from ((f"design {at}", said) for said in (design.name, design.short_description, design.description))
    for box in CONTENT.boxes:
        yield from ((box.key, said) for said in (box.name, box.short_description))


# ---- the content


@pytest.mark.parametrize(("where", "said"), list(texts()))
def test_texts_are_complete_and_well_set(where: str, said: dict[str, str]) -> None:
    assert tuple(said) == LANGUAGES
    assert len(set(said.values())) == len(LANGUAGES), f"{where} says the same in two languages"
    for language, each in said.items():
        assert each.strip() == each != "", f"{where} {language}"
        assert not re.search(r"""['"]|\.\.\.|  | [.,;:!?]""", each), f"{where} {language}: {each}"


def test_colours_are_readable_on_white() -> None:
    colours = [CONTENT.shop.accent_colour]
    colours += [each.accent_colour for each in CONTENT.partners]
    colours += [each.accent_colour for each in CONTENT.designs]
    for colour in colours:
        assert contrast(colour, "#ffffff") >= MIN_CONTRAST, colour


# ---- the rows


async def test_twelve_partners_of_several_countries_take_part(database: Database, demo_data: DemoData) -> None:
    linked = "SELECT commercial_name FROM partner WHERE linked_to_nv_settings AND linked_to_ngc_settings ORDER BY id"
    rows = [row[0] for row in await database.rows(text(linked))]
    assert rows == [*FIRST, *(each.commercial_name for each in CONTENT.partners)]
    assert len(rows) == 12
    assert len(await names(database, "hq_country_code FROM partner")) >= 3
    assert demo_data.network_domain == f"{SHOP_HOST}:8123"
    shop = "site_domain FROM partner WHERE is_network_shop"
    assert await names(database, shop) == {demo_data.network_domain}
    assert (
        await number(
            database,
            f"delivery_mode m JOIN partner p ON p.id = partner_id WHERE site_domain = '{demo_data.network_domain}'",
        )
        == 2
    )


@pytest.mark.usefixtures("demo_data")
async def test_each_box_on_sale_has_pictures_and_somebody_who_accepts_it(database: Database) -> None:
    assert await number(database, "box") == len(CONTENT.boxes) == 30
    assert await number(database, "box WHERE price_range_id IS NULL") == 0
    assert (
        await number(database, "box WHERE NOT EXISTS (SELECT FROM box_image WHERE box_id = box.id AND is_cover)") == 0
    )
    several = "SELECT count(*) FROM offer WHERE box_id = box.id AND status = 'ACCEPTED' AND is_active"
    assert await number(database, f"box WHERE is_active AND ({several}) < 2") == 0
    assert await names(database, "status FROM offer") == {status.value for status in OfferStatus}
    assert await number(database, "offer WHERE status = 'ACCEPTED'") * 2 > await number(database, "offer")


@pytest.mark.usefixtures("demo_data")
async def test_gift_cards_and_vouchers_are_in_every_status(database: Database) -> None:
    cards, vouchers = "gift_card WHERE network_id IS NOT NULL", "network_voucher"
    assert (await number(database, cards), await number(database, vouchers)) == (CARDS + 1, VOUCHERS + 1)
    assert await names(database, f"shown_status FROM {cards}") == {each.value for each in NetworkGiftCardStatus}
    assert await names(database, f"status FROM {vouchers}") == {each.value for each in NetworkVoucherStatus}
    codes = await names(database, f"code FROM {cards}") | await names(database, f"code FROM {vouchers}")
    assert len(codes) == CARDS + VOUCHERS + 2
    assert all(map(looks_valid, codes))
    for usages in ("network_gift_card_usage", "network_voucher_usage"):
        assert len(await names(database, f"partner_id FROM {usages}")) == 12
        assert len(await names(database, f"to_char(used_on, 'YYYY-MM') FROM {usages}")) >= 6
        assert await number(database, f"{usages} WHERE NOT is_active") > 0
        assert await number(database, f"{usages} WHERE used_on > now() OR cancelled_on > now()") == 0


WRONG = """
    'card is used up and is not' FROM gift_card WHERE network_id IS NOT NULL AND (status = 'used') <> (remaining_amount = 0)
    UNION ALL SELECT 'card has expired and has not' FROM gift_card
        WHERE network_id IS NOT NULL AND status IN ('paid', 'using', 'exprd') AND (status = 'exprd') <> (expires_on <= now())
    UNION ALL SELECT 'voucher has expired and has not' FROM network_voucher
        WHERE status IN ('paid', 'using', 'test', 'exprd') AND (status = 'exprd') <> (expires_on <= now())
    UNION ALL SELECT 'card was used outside its validity' FROM network_gift_card_usage u JOIN gift_card c ON c.id = gift_card_id
        WHERE u.is_active AND used_on NOT BETWEEN c.starts_on AND c.expires_on
    UNION ALL SELECT 'voucher was used outside its validity' FROM network_voucher_usage u
        JOIN network_voucher v ON v.id = network_voucher_id
        WHERE u.is_active AND (used_on NOT BETWEEN v.starts_on AND v.expires_on OR used_on > v.usable_until)
    UNION ALL SELECT 'used where there is no offer' FROM network_voucher_usage u JOIN network_voucher v ON v.id = network_voucher_id
        LEFT JOIN offer o ON (o.id, o.box_id, o.partner_id) = (u.offer_id, v.box_id, u.partner_id) WHERE o.id IS NULL
    UNION ALL SELECT 'usages miscounted' FROM network_voucher v WHERE (usage_count, used_amount) <>
        (SELECT count(*), coalesce(sum(value_amount), 0) FROM network_voucher_usage WHERE network_voucher_id = v.id AND is_active)
    UNION ALL SELECT 'no fee' FROM network_gift_card_usage WHERE commission_amount = 0 OR net_amount >= value_amount
    UNION ALL SELECT 'uses nothing of a voucher' FROM network_voucher_usage WHERE net_amount >= value_amount
"""


@pytest.mark.usefixtures("demo_data")
async def test_they_are_true_to_themselves_and_to_the_ledger(database: Database) -> None:
    assert await names(database, WRONG) == set()
    assert await broken_rules(database) == {}
    assert await number(database, "ledger_journal WHERE kind = 'breakage'") > 0, "the vouchers book it"


async def test_the_codes_that_are_shown_are_accepted_by_the_first_partner(
    database: Database, demo_data: DemoData
) -> None:
    card = f"gift_card WHERE code = '{demo_data.network_gift_card}' AND status = 'paid' AND remaining_amount = {Decimal(100)}"
    assert await number(database, card) == 1
    voucher = f"""network_voucher v JOIN offer o ON o.box_id = v.box_id AND o.status = 'ACCEPTED' AND o.is_active
        WHERE code = '{demo_data.network_voucher}' AND v.status = 'paid' AND o.partner_id = 1"""
    assert await number(database, voucher) == 1


async def test_codes_that_were_used_up_are_no_longer_shown(
    database: Database, sandbox: Starlette, settings: Settings, demo_data: DemoData
) -> None:
    async with database.engine.begin() as connection:
        await connection.execute(text("UPDATE gift_card SET is_active = false WHERE network_id IS NOT NULL"))
        await connection.execute(text("UPDATE network_voucher SET is_active = false"))
    later = await seed(database, settings, clock, sandbox)
    assert later is not None
    assert (later.network_gift_card, later.network_voucher) == ("", "")
    assert demo_data.network_domain == later.network_domain


async def test_the_network_has_a_wallet_that_the_provider_knows(
    database: Database, sandbox: Starlette, settings: Settings, demo_data: DemoData
) -> None:
    assert demo_data.network_domain
    wallet = f"wallet w JOIN wallet_opening o ON o.wallet_id = w.id WHERE kind = 'marketplace' AND is_live AND provider_wallet_id = '{WALLET}'"
    assert await number(database, f"{wallet} AND provider_user_id = '{SANDBOX_PLATFORM_USER}'") == 1
    assert await seed(database, settings, clock, sandbox) == demo_data


async def test_the_network_grows_with_the_large_partner(
    database: Database, settings: Settings, demo_data: DemoData, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "VOUCHERS_A_GIFT_CARD", 1)
    result = await add_large_partner(database, settings, clock, CARDS + 51, lambda _done, _all: None)
    assert demo_data.network_gift_card
    assert (result.network_gift_cards, result.network_vouchers) == (CARDS + 51, CARDS + 51)
    assert await number(database, "gift_card WHERE network_id IS NOT NULL") == CARDS + 51
    assert await number(database, "network_voucher") == CARDS + 51
    assert await names(database, WRONG) == set()
    assert await broken_rules(database) == {}
