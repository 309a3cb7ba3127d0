"""Network vouchers and their usages as they are read, over both transports: keys, who sees which, what is refused."""

import datetime as dt
import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from resolvers.network.voucher_usages import cancel_network_voucher_usage, use_network_voucher
from rest_compat.resources.network_voucher import NETWORK_VOUCHER, NETWORK_VOUCHER_USAGE
from schema.core.permission import Permission
from schema.core.text import Text
from schema.network.box import OfferStatus
from schema.network.voucher import NetworkVoucherStatus as S
from store.core.clock import clock
from store.network.vouchers import NetworkVoucherRow
from tests.changes import Direct
from tests.fixtures.box import new_box, new_offer, new_prototype
from tests.fixtures.network import link, set_terms
from tests.fixtures.network_voucher import network_voucher, stored, usages_of_voucher
from tests.fixtures.tenants import EVERYBODY, Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, Answer, OverGraphQL, OverRest, Transport

pytestmark = pytest.mark.asyncio(loop_scope="module")

FIELDS = """id uuid code status createdOn expiresOn maxUsages usageCount price { amount } box { id isActive }
    content { boxName description shortDescription universes tags }"""
USAGE_FIELDS = """id usedOn networkVoucherId isActive comment managementFee { amount } commissionRate
    partner { id commercialName sourceId }"""
PATHS = {
    "code": "/api/networkvouchers_by_code/{}/",
    "usages": "/api/networkvouchers_by_code/{}/usages/",
    "email": "/api/networkvouchers_by_email/{}/",
}
QUERIES = {
    "code": f"query ($value: String!) {{ networkVoucher(code: $value) {{ {FIELDS} }} }}",
    "usages": f"query ($value: String!) {{ networkVoucher(code: $value) {{ usages {{ {USAGE_FIELDS} }} }} }}",
    "email": f"query ($value: String!) {{ networkVouchers(email: $value) {{ nodes {{ {FIELDS} }} }} }}",
}


@dataclass
class Shown:
    """The vouchers that are there, by a name."""

    vouchers: dict[str, NetworkVoucherRow]

    def __getitem__(self, name: str) -> NetworkVoucherRow:
        return self.vouchers[name]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shown(tenants: Tenants) -> Shown:
    """Vouchers in several states, of both networks; one was used at two partners."""
    await link(tenants, "a1", "a2")
    await link(tenants, "b1", source_id=200)
    await set_terms(tenants, product="voucher", commission_rate=10, management_fee_amount=Decimal("1.20"))
    await tenants.execute("UPDATE partner SET tags = '{spa}' WHERE id = :id", id=tenants.partners["a1"].id)
    await tenants.user("manager", "partner", [Permission.USE_NETWORK_VOUCHER], partner_id=tenants.partners["a1"].id)
    product = await new_prototype(tenants, "a1")
    texts: dict[str, Any] = {
        "name": Text(en="Calm", fr="Calme"),
        "short_description": Text(en="Short"),
        "long_description": Text(),
    }
    box = await new_box(tenants, max_usages=3, is_active=False, **texts)
    for name, more in {"a1": {"product_id": product.id}, "a2": {"ranking": 2}}.items():
        await new_offer(tenants, box, name, OfferStatus.ACCEPTED, **more)
    of = {"gifter_email": "Gifter@Example.com", "giftee_email": "giftee@example.com"}
    vouchers = {
        "used": await network_voucher(tenants, box, language="fr", **of),
        "expired": await network_voucher(tenants, box, status=S.EXPIRED, expires_on=clock.now() - dt.timedelta(days=1)),
        "endless": await network_voucher(tenants, await new_box(tenants), status=S.TEST, expires_on=None, **of),
        "elsewhere": await network_voucher(tenants, await new_box(tenants, "b"), **of),
    }
    ask = Direct(tenants)
    for at, comment in (("a1", "First"), ("a2", ""), ("a1", "Third")):
        sent = {"code": vouchers["used"].code, "partner_id": tenants.partners[at].id, "comment": comment}
        assert (await ask.change("market a", use_network_voucher, **sent)).done
    second = (await usages_of_voucher(tenants, vouchers["used"]))[1]
    assert (await ask.change("a2", cancel_network_voucher_usage, id=second.id)).done
    return Shown({name: await stored(tenants, row) for name, row in vouchers.items()})


async def read(transport: Transport, who: str, kind: str, value: str) -> Answer:
    """A voucher, its usages, or those of an e-mail address, under the documented keys."""
    if isinstance(transport, OverRest):
        path = PATHS[kind].format(quote(value, safe=""))
        answer = transport.to_answer(await transport.tenants.client.get(path, headers=transport.headers(who)))
        if answer.done:
            rows = answer.result if isinstance(answer.result, list) else [answer.result]
            shape = NETWORK_VOUCHER_USAGE if kind == "usages" else NETWORK_VOUCHER
            assert all(list(row) == list(shape.keys) for row in rows)
        return answer
    assert isinstance(transport, OverGraphQL)
    answer = await transport.ask_graphql(QUERIES[kind], who, {"value": value})
    if not answer.done:
        return answer
    if answer.result is None:
        return Answer(404)
    if kind == "usages":
        return Answer(200, [usage_of(usage) for usage in reversed(answer.result["usages"])])
    result = answer.result
    return Answer(200, voucher_of(result) if kind == "code" else [voucher_of(node) for node in result["nodes"]])


def moment(value: str | dt.datetime | None) -> str:
    """A time as REST writes it."""
    if not value:
        return ""
    parsed = value if isinstance(value, dt.datetime) else dt.datetime.fromisoformat(value)
    return parsed.astimezone(dt.UTC).isoformat(timespec="microseconds")[:26] + "Z"


def voucher_of(node: Any) -> dict[str, Any]:
    """A voucher of GraphQL under the documented keys."""
    content = node["content"]
    return {
        **{key: node[key] for key in ("id", "uuid", "code")},
        "status": S[node["status"]].value,
        "creation_date": moment(node["createdOn"]),
        "expiration_date": moment(node["expiresOn"]),
        "max_usages": node["maxUsages"],
        "usage_count": node["usageCount"],
        "box": node["box"]["id"],
        "box_name": content["boxName"],
        "box_price": float(node["price"]["amount"]),
        "is_box_active": node["box"]["isActive"],
        "description": content["description"],
        "short_description": content["shortDescription"],
        "universes": content["universes"],
        "tags": content["tags"],
    }


def usage_of(node: Any) -> dict[str, Any]:
    """A usage of GraphQL under the documented keys."""
    source_id = node["partner"]["sourceId"]
    return {
        "id": node["id"],
        "creation_date": moment(node["usedOn"]),
        "network_voucher": node["networkVoucherId"],
        "partner": node["partner"]["id"],
        "partner_agency_name": node["partner"]["commercialName"],
        "partner_source_id": int(source_id),
        "is_active": node["isActive"],
        "comment": node["comment"] or "",
        "management_fees": node["managementFee"] and float(node["managementFee"]["amount"]),
        "commission_rate": node["commissionRate"] and float(node["commissionRate"]),
    }


async def test_a_voucher_has_its_documented_keys(transport: Transport, shown: Shown) -> None:
    row = shown["used"]
    expected = {
        "id": row.id,
        "uuid": str(row.uuid),
        "code": row.code,
        "status": "using",
        "creation_date": moment(row.created_on),
        "expiration_date": moment(row.expires_on),
        "max_usages": 3,
        "usage_count": 2,
        "box": row.box_id,
        "box_name": "Calme",
        "box_price": 120.0,
        "is_box_active": False,
        "description": "",
        "short_description": "Short",
        "universes": [["Spas"], []],
        "tags": [["spa"], []],
    }
    for spelled in (row.code, row.code.lower().replace("-", " "), row.normal_code):
        assert await read(transport, "a1", "code", spelled) == Answer(200, expected)
    endless = (await read(transport, "market a", "code", shown["endless"].code)).result
    assert (endless["status"], endless["expiration_date"], endless["universes"], endless["tags"]) == (
        "test",
        "",
        [],
        [],
    )


async def test_usages_have_their_documented_keys(transport: Transport, tenants: Tenants, shown: Shown) -> None:
    usages = (await read(transport, "a1", "usages", shown["used"].code)).result
    rows = await usages_of_voucher(tenants, shown["used"])
    assert [usage["id"] for usage in usages] == [row.id for row in reversed(rows)]
    assert [usage["is_active"] for usage in usages] == [True, False, True]
    assert usages[0] == {
        "id": rows[2].id,
        "creation_date": moment(rows[2].used_on),
        "network_voucher": shown["used"].id,
        "partner": tenants.partners["a1"].id,
        "partner_agency_name": "Shop a1",
        "partner_source_id": 100,
        "is_active": True,
        "comment": "Third",
        "management_fees": 1.2,
        "commission_rate": 10.0,
    }
    assert (await read(transport, "market a", "usages", shown["endless"].code)).result == []


@pytest.mark.parametrize("who", EVERYBODY)
async def test_who_sees_which_vouchers(transport: Transport, shown: Shown, who: str) -> None:
    own = {"used", "expired", "endless"}
    seen = {"b1": {"elsewhere"}, "market b": {"elsewhere"}, "master": own | {"elsewhere"}}.get(who, own)
    for name, row in shown.vouchers.items():
        for kind in ("code", "usages"):
            assert (await read(transport, who, kind, row.code)).status == (200 if name in seen else 404), name
    found = {
        "market a": ["endless", "used"],
        "market b": ["elsewhere"],
        "master": ["elsewhere", "endless", "used"],
    }.get(who, [])
    for email in ("gifter@example.com", "GIFTER@EXAMPLE.COM", "Giftee@Example.com"):
        listed = (await read(transport, who, "email", email)).result
        assert [voucher["id"] for voucher in listed] == [shown[name].id for name in found], email


async def test_a_partner_that_is_not_linked_sees_nothing(transport: Transport, tenants: Tenants, shown: Shown) -> None:
    switch = "UPDATE partner SET linked_to_nv_settings = :linked WHERE id = :id"
    await tenants.execute(switch, linked=False, id=tenants.partners["a1"].id)
    try:
        for kind in ("code", "usages"):
            assert (await read(transport, "a1", kind, shown["used"].code)).status == 404
    finally:
        await tenants.execute(switch, linked=True, id=tenants.partners["a1"].id)


@pytest.mark.parametrize("kind", list(PATHS))
async def test_who_reads_nothing(transport: Transport, shown: Shown, kind: str) -> None:
    values = ("gifter@example.com",) if kind == "email" else (shown["used"].code, "NO-SUCH")
    for who, status in {NO_TOKEN: 401, BAD_TOKEN: 401, "powerless": 403, "manager": 403}.items():
        for value in values:
            assert (await read(transport, who, kind, value)).status == status, who


@pytest.mark.parametrize("kind", ["code", "usages"])
async def test_what_is_no_code(transport: Transport, shown: Shown, kind: str) -> None:
    wrong = shown["used"].code[:-1] + ("2" if shown["used"].code[-1] != "2" else "3")
    for code in ("NO-SUCH-CODE", wrong, str(shown["used"].id), "%", "' OR 1=1", "x" * 500, "é"):
        assert (await read(transport, "market a", kind, code)).status == 404, code


async def test_what_is_no_e_mail_address(transport: Transport, shown: Shown) -> None:
    for email in ("nobody@example.com", "example.com", "%", "gifter@example.co", "{gifter@example.com}", "x" * 300):
        assert await read(transport, "market a", "email", email) == Answer(200, []), email


async def test_unknown_and_foreign_codes_are_the_same(tenants: Tenants, shown: Shown) -> None:
    rest = OverRest(tenants)
    texts = set()
    for code in (shown["elsewhere"].code, "NO-SUCH-CODE"):
        answer = await tenants.client.get(PATHS["code"].format(code), headers=rest.headers("a1"))
        texts.add((answer.status_code, answer.text))
    ((status, body),) = texts
    assert (status, list(json.loads(body))) == (404, ["detail"])


async def test_arrays_are_cut_only_with_a_page_size(tenants: Tenants, shown: Shown) -> None:
    rest = OverRest(tenants)

    async def get(path: str) -> Any:
        return await tenants.client.get(path, headers=rest.headers("market a"))

    for path in (PATHS["email"].format("gifter@example.com"), PATHS["usages"].format(shown["used"].code)):
        whole, cut = await get(path), await get(f"{path}?page_size=1&page=2")
        assert "Link" not in whole.headers
        assert cut.json() == whole.json()[1:2]
        assert 'rel="prev"' in cut.headers["Link"]
        assert (await get(f"{path}?page_size=x")).status_code == 400
        assert (await get(f"{path}?page_size=1&page=99")).status_code == 404


async def test_amounts_are_exact(tenants: Tenants, shown: Shown) -> None:
    answer = await tenants.client.get(
        PATHS["code"].format(shown["used"].code), headers=OverRest(tenants).headers("market a")
    )
    assert '"box_price":120.00' in answer.text
    answer = await tenants.client.get(
        PATHS["usages"].format(shown["used"].code), headers=OverRest(tenants).headers("market a")
    )
    assert '"management_fees":1.20,"commission_rate":10.00' in answer.text
