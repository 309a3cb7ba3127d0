"""The demo data laid into a real database, and found again at later starts."""

import asyncio
import pathlib
from typing import Any

import httpx
import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select
from starlette.applications import Starlette

from coffret.demo.content import load_content
from coffret.demo.seed import LOCK, DemoData, DemoDataRefused, seed
from coffret.demo.users import PARTNER_USERS, PASSWORD, USERNAMES
from coffret.sandbox import SandboxSettings, close, sandbox_app
from schema.account.user import UserRole
from schema.checkout.checkout import ProductChoice
from schema.validation.languages import LANGUAGES
from store.account.credentials import verify_password
from store.account.users import UserRow
from store.checkout.offers import load_products
from store.checkout.pricing.goods import price_lines
from store.core.clock import clock
from store.core.codes import looks_valid
from store.core.settings import DeploymentEnvironment, Settings
from store.core.settings.provider import ProviderName
from store.database.db import Database
from store.gift_card.offer import check_gift_card_offer
from store.media.pictures import PictureRow, store_picture
from store.partner.creation import with_port_of
from store.partner.partners import MarketplaceRow, PartnerRow
from store.product.products import ProductRow

CONTENT = load_content()
OF_SHOPS = "partner_id IN (1, 2)"
TABLES = ("marketplace", "partner", "app_user", "product", "gift_card", "picture", "token")


def development(**more: Any) -> Settings:
    return Settings(**{"funnel_scheme": "http", "port": 8123, **more})


@pytest.fixture(autouse=True)
def _folder_of_ones_own(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are kept in a folder that is thrown away."""
    monkeypatch.setenv("COFFRET_DATA_DIR", str(tmp_path))


async def count(db: Database, table: str, where: str = "true") -> int:
    return int((await db.rows(text(f"SELECT count(*) FROM {table} WHERE {where}")))[0][0])  # noqa: S608 - a test's words


async def counts(db: Database) -> dict[str, int]:
    return {table: await count(db, table) for table in TABLES}


async def laid(db: Database, sandbox: Starlette, settings: Settings | None = None) -> DemoData:
    found = await seed(db, settings or development(), clock, sandbox)
    assert found is not None
    return found


async def test_an_empty_database_is_filled_with_both_shops(database: Database, sandbox: Starlette) -> None:
    found = await laid(database, sandbox)
    assert found.site_domains == ("demo.localhost:8123", "demo2.localhost:8123")
    shops = CONTENT.partners
    products = [product for shop in shops for product in shop.products]
    assert await count(database, "marketplace") == 1
    assert await count(database, "product") == len(products)
    assert await count(database, "product", "NOT is_active") == sum(not p.is_active for p in products)
    assert await count(database, "product", "stock = 0") == sum(p.stock == 0 for p in products)
    assert await count(database, "product_variant") == sum(len(p.variants) for p in products)
    assert await count(database, "product_attribute") == sum(len(p.attributes) for p in products)
    assert await count(database, "attribute_value") == sum(len(a.values) for p in products for a in p.attributes)
    assert await count(database, "coupon", OF_SHOPS) == sum(len(shop.coupons) for shop in shops)
    assert await count(database, "delivery_rate", OF_SHOPS) == sum(
        len(m.rates) for shop in shops for m in shop.delivery
    )
    for partner_id in (1, 2):
        kinds = await database.rows(text(f"SELECT kind FROM delivery_mode WHERE partner_id = {partner_id}"))  # noqa: S608
        assert {row[0] for row in kinds} == {"digital", "click_and_collect", "home_delivery"}


@pytest.mark.usefixtures("demo_data")
async def test_every_row_says_what_its_content_says(database: Database) -> None:
    async with database.sessions() as db:
        rows = (await db.exec(select(ProductRow).order_by(col(ProductRow.partner_id), col(ProductRow.ranking)))).all()
        pictures = {row.name: row.content for row in (await db.exec(select(PictureRow))).all()}
        partners = (await db.exec(select(PartnerRow).order_by(col(PartnerRow.id)).limit(2))).all()
    for row, content in zip(rows, [p for shop in CONTENT.partners for p in shop.products], strict=True):
        assert {language: getattr(row.name, language) for language in LANGUAGES} == content.name
        assert {language: getattr(row.description, language) for language in LANGUAGES} == content.description
        for name in ("vat_rate", "stock", "weight_grams", "is_physical", "is_active", "ranking"):
            assert getattr(row, name) == getattr(content, name), name
        assert row.price_amount == content.price
        assert pictures[row.picture_url.removeprefix("/media/")] == content.picture.content
    for partner, shop in zip(partners, CONTENT.partners, strict=True):
        assert partner.payments_active
        assert partner.source_id == str(partner.id)
        assert (partner.commercial_name, partner.accent_colour) == (shop.commercial_name, shop.accent_colour)
        assert partner.gift_card_offer_suggested == list(shop.gift_card_offer.suggested)
        check_gift_card_offer(partner, "EUR")
        assert pictures[partner.logo_url.removeprefix("/media/")] == shop.logo.content


@pytest.mark.usefixtures("demo_data")
async def test_users_log_in_with_the_password_and_see_what_their_role_sees(database: Database) -> None:
    async with database.sessions() as db:
        users = {user.username: user for user in (await db.exec(select(UserRow))).all()}
        marketplace = (await db.exec(select(MarketplaceRow))).one()
        partners = (await db.exec(select(PartnerRow.id).order_by(col(PartnerRow.id)))).all()
    assert set(users) == set(USERNAMES)
    assert all(user.password_hash.startswith("$argon2id$") for user in users.values())
    assert await verify_password(users["master@demo.localhost"].password_hash, PASSWORD)
    seen = [(users[name].role, users[name].partner_id, users[name].marketplace_id) for name in USERNAMES]
    assert seen == [
        ("partner", partners[0], None),
        ("partner", partners[1], None),
        ("marketplace", None, marketplace.id),
        ("master", None, None),
    ]


async def test_gift_cards_have_codes_of_ours_and_balanced_entries(database: Database, demo_data: DemoData) -> None:
    codes = [row[0] for row in await database.rows(text("SELECT code FROM gift_card WHERE network_id IS NULL"))]
    assert len(set(codes)) == sum(len(shop.gift_cards) for shop in CONTENT.partners)
    assert all(looks_valid(code) for code in codes)
    unequal = """SELECT count(*) FROM gift_card c WHERE network_id IS NULL AND remaining_amount <>
        (SELECT sum(amount) FROM gift_card_movement e WHERE e.gift_card_id = c.id)"""
    assert (await database.rows(text(unequal)))[0][0] == 0
    assert await count(database, "gift_card", "status = 'paid' AND expires_on < now()") == 0
    assert await count(database, "gift_card", "created_on >= expires_on") == 0
    shown = f"code = '{demo_data.gift_card}' AND partner_id = 1 AND status = 'paid' AND remaining_amount > 0"
    assert await count(database, "gift_card", shown) == 1


async def test_the_cart_that_is_shown_can_be_ordered_whole(database: Database, demo_data: DemoData) -> None:
    items = demo_data.cart["items"]
    choices = [
        ProductChoice(
            item["product_id"],
            item["quantity"],
            item.get("variant_id"),
            {int(key): value for key, value in item.get("attribute_values", {}).items()},
        )
        for item in items
    ]
    products = await load_products(database, 1, [choice.product_id for choice in choices], others=False)
    lines = price_lines(choices, products)
    assert [line.problem for line in lines] == [None] * len(lines)
    assert any(choice.variant_id for choice in choices)
    assert any(choice.attribute_values for choice in choices)
    assert any(not choice.variant_id and not choice.attribute_values for choice in choices)
    assert demo_data.cart["return_url"] == "http://demo.localhost:8123/"


@pytest.mark.usefixtures("demo_data")
async def test_the_provider_knows_the_partners(database: Database, sandbox: Starlette) -> None:
    transport = httpx.ASGITransport(sandbox)
    async with httpx.AsyncClient(transport=transport, base_url="http://sandbox") as client:
        token = (
            await client.post(
                "/v2.01/oauth/token", data={"grant_type": "client_credentials"}, auth=("sandbox", "sandbox")
            )
        ).json()["access_token"]
        for user, wallet in await database.rows(text("SELECT provider_user_id, provider_wallet_id FROM partner")):
            answer = await client.get(f"/v2.01/sandbox/wallets/{wallet}", headers={"Authorization": f"Bearer {token}"})
            assert answer.json()["Owners"] == [user]


async def test_a_second_start_changes_nothing(database: Database, sandbox: Starlette) -> None:
    first = await laid(database, sandbox)
    before = await counts(database)
    assert await laid(database, sandbox) == first
    assert await counts(database) == before


@pytest.mark.usefixtures("demo_data")
async def test_a_start_with_another_port_moves_the_shops(database: Database, sandbox: Starlette) -> None:
    found = await laid(database, sandbox, development(port=9001))
    assert found.site_domains == ("demo.localhost:9001", "demo2.localhost:9001")
    assert found.network_domain == "network.localhost:9001"
    rows = await database.rows(text("SELECT site_domain, website FROM partner ORDER BY id"))
    assert [tuple(row) for row in rows[:2]] == [
        (domain, f"http://{domain}/") for domain in ("demo.localhost:9001", "demo2.localhost:9001")
    ]
    assert all(domain.endswith(".localhost:9001") and website == f"http://{domain}/" for domain, website in rows)


@pytest.mark.usefixtures("demo_data")
async def test_a_site_domain_that_somebody_changed_stays(database: Database, sandbox: Starlette) -> None:
    async with database.sessions() as db, db.begin():
        mine = await db.get_one(PartnerRow, 1)
        mine.site_domain, mine.website = "shop.test:8123", "https://shop.test/"
    found = await laid(database, sandbox, development(port=9001))
    assert found.site_domains == ("shop.test:8123", "demo2.localhost:9001")
    assert (await database.rows(text("SELECT website FROM partner WHERE id = 1")))[0][0] == "https://shop.test/"


@pytest.mark.usefixtures("demo_data")
async def test_a_provider_that_forgot_is_told_again(
    database: Database, sandbox: Starlette, tmp_path: pathlib.Path
) -> None:
    emptied = sandbox_app(
        SandboxSettings(public_url="http://provider.test/_provider", clock=clock, path=tmp_path / "s.sqlite")
    )
    await laid(database, emptied)
    await test_the_provider_knows_the_partners(database, emptied)
    await close(emptied)


async def test_processes_that_start_together_lay_it_once(database: Database, sandbox: Starlette) -> None:
    found = await asyncio.gather(*(seed(database, development(), clock, sandbox) for _ in range(4)))
    assert len({shop.gift_card for shop in found if shop}) == 1
    assert None not in found
    assert await count(database, "partner", "NOT is_network_shop") == 12


async def test_a_seed_waits_for_the_one_before_it(database: Database, sandbox: Starlette) -> None:
    async with database.engine.connect() as other:
        await other.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": LOCK})
        waiting = asyncio.create_task(seed(database, development(), clock, sandbox))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        assert await count(database, "marketplace") == 0
        await other.rollback()
    assert await waiting is not None


async def test_a_database_of_ones_own_is_left_alone(database: Database, sandbox: Starlette) -> None:
    async with database.sessions() as db, db.begin():
        db.add(MarketplaceRow(name="Mine"))
    before = await counts(database)
    assert await seed(database, development(), clock, sandbox) is None
    assert await counts(database) == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            Settings.model_construct(environment=DeploymentEnvironment.PRODUCTION, provider=ProviderName.SANDBOX),
            "public passwords",
        ),
        (development(provider=ProviderName.MANGOPAY, mangopay_client_id="c", mangopay_api_key="k"), "sandbox only"),
    ],
)
async def test_where_it_does_not_belong_it_is_refused_in_a_sentence(
    database: Database, sandbox: Starlette, settings: Settings, message: str
) -> None:
    with pytest.raises(DemoDataRefused, match=message):
        await seed(database, settings, clock, sandbox)
    assert set((await counts(database)).values()) == {0}


async def test_what_fails_at_the_end_leaves_nothing(database: Database, sandbox: Starlette) -> None:
    async with database.sessions() as db, db.begin():
        db.add(UserRow(username="master@demo.localhost", role=UserRole.MASTER))
    before = await counts(database)
    with pytest.raises(IntegrityError):
        await seed(database, development(), clock, sandbox)
    assert await counts(database) == before
    async with database.engine.begin() as connection:
        await connection.execute(text("DELETE FROM app_user"))
    await laid(database, sandbox)


@pytest.mark.usefixtures("demo_data")
async def test_when_all_is_sold_and_spent_the_start_still_works(database: Database, sandbox: Starlette) -> None:
    async with database.engine.begin() as connection:
        await connection.execute(text("UPDATE product SET stock = 0"))
        await connection.execute(text("UPDATE product_variant SET stock = 0"))
        await connection.execute(
            text("UPDATE gift_card SET status = 'used', remaining_amount = 0 WHERE partner_id IS NOT NULL")
        )
    found = await laid(database, sandbox)
    assert found.gift_card == ""
    assert found.cart["items"] == []


@pytest.mark.usefixtures("demo_data")
async def test_the_same_picture_of_two_partners_is_kept_once(database: Database) -> None:
    before = await count(database, "picture")
    async with database.sessions() as db, db.begin():
        urls = {await store_picture(db, partner_id, b"<svg/>", "svg") for partner_id in (1, 2, 1)}
    assert len(urls) == 1
    assert await count(database, "picture") == before + 1
    async with database.sessions() as db:
        with pytest.raises(ValueError, match="one of svg"):
            await store_picture(db, 1, b"GIF89a", "gif")


@pytest.mark.parametrize(
    ("scheme", "port", "domain"),
    [
        ("http", 8000, "demo.localhost:8000"),
        ("http", 80, "demo.localhost"),
        ("http", 443, "demo.localhost:443"),
        ("https", 443, "demo.localhost"),
    ],
)
def test_a_site_domain_is_the_host_that_browsers_send(scheme: str, port: int, domain: str) -> None:
    assert with_port_of("demo.localhost", development(funnel_scheme=scheme, port=port)) == domain


def test_the_first_partner_is_the_one_whose_token_is_shown() -> None:
    assert PARTNER_USERS[0] == "partner@demo.localhost"
    assert len(PARTNER_USERS) == len(CONTENT.partners)
