# ruff: noqa: S608 - statements are made of the names above
"""Vouchers in JSON as one would write it by hand, with asyncpg and orjson: what the lists of them cost at least."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import asyncpg
import orjson
from starlette.requests import Request

from tests.bench.floors import Floor, Means, moment

LANGUAGES = ("en", "fr", "es", "it", "de", "nl", "ca", "pt")
TYPES = {"stay": 1, "standard": 2, "fixed_stay": 3}
MODES = {"print_at_home": (1, "Print at home"), "expedition": (2, "Expedition to the buyer"), "giftee_email": (3, "E-mail to the giftee"), "postal_mail_to_beneficiary": (4, "Post to the beneficiary"), "on_site": (5, "On site")}  # fmt: skip
TARGETS = ("vouchers", "giftcards", "clickandcollect", "ecommerce", "experiences", "tickets_events", "workshops", "flashsales", "moneypot", "network_giftcards", "network_vouchers")  # fmt: skip
RECEIVED = {mode: f"{mode}_reception_mode" for mode in list(MODES)[:4]} | {"on_site": "on_site_expedition_mode"}
PRICES = ("total_price", "purchase_price", "rent_price", "bought_rent_price")
AS_STORED = ("nb_nights", "nb_babies", "nb_children", "nb_adults")


def _in_languages(column: str, name: str) -> str:
    return ", ".join(f"{column}->>'{at}' AS {name}_{at}" for at in LANGUAGES)


PAGE = """
SELECT id, code, summary, origin, voucher_prototype_id, prototype_name, prototype_description,
  prototype_rent_conditions,
  prototype_type, nb_nights, nb_babies, nb_children, nb_adults, reception_mode, gifter_civility, gifter_first_name,
  gifter_last_name, gifter_address, gifter_email, gifter_city, gifter_country, gifter_postal_code, gifter_wired_phone,
  gifter_mobile_phone, self_gifted, giftee_first_name, giftee_last_name, giftee_email, giftee_phone_number, recipient_address,
  message, total_price_amount, purchase_price_amount, rent_price_amount, bought_rent_price_amount, created_on, activated_on,
  used_on, expires_on, gifter_id, giftee_id, state, document_token, coupon_id, kind, to_giftee, from_gifter,
  expedition_status, expedition_date, cover_letter_url, language, is_group_payment, payment_type, imported_from
FROM voucher WHERE partner_id = $1 AND {condition} ORDER BY created_on DESC, id DESC LIMIT $2
"""
COUNT = "SELECT count(*) FROM voucher WHERE partner_id = $1 AND {condition}"
CHOSEN = f"""
SELECT c.voucher_id, c.count, c.total_price_amount, o.id, {_in_languages("o.name", "name")},
  {_in_languages("o.description", "description")}, o.selling_price_amount, o.is_active, o.countable, o.is_global, o.ranking,
  o.partner_id, p.uuid, o.category_id, o.has_been_ordered, o.services
FROM voucher_chosen_option c JOIN voucher_option o ON o.id = c.option_id JOIN partner p ON p.id = o.partner_id
WHERE c.voucher_id = ANY ($1::int[]) ORDER BY c.id
"""
LINKS = f"""
SELECT l.option_id, l.voucher_prototype_id AS id, {_in_languages("p.name", "name")}
FROM voucher_option_link l JOIN voucher_prototype p ON p.id = l.voucher_prototype_id
WHERE l.option_id = ANY ($1::int[]) ORDER BY l.voucher_prototype_id, l.id
"""
INCLUDED = f"""
SELECT voucher_id, count, {_in_languages("name", "name")}, source_id
FROM voucher_included_option WHERE voucher_id = ANY ($1::int[]) ORDER BY id
"""
RENTALS = """
SELECT voucher_id, id, starts_on, ends_on, reference, comment, created_on
FROM voucher_rental WHERE voucher_id = ANY ($1::int[]) ORDER BY starts_on, id
"""
COUPONS = "SELECT * FROM coupon WHERE id = ANY ($1::int[])"


@dataclass(frozen=True)
class Vouchers(Floor):
    """A numbered page of whole vouchers, in seven statements: the page, its count, and what belongs to its rows."""

    partner_id: int = 0
    size: int = 100
    zone: str = "UTC"
    public_url: str = ""
    condition: str = "true"

    name: ClassVar[str] = "Starlette + asyncpg + orjson"

    async def bring(self, means: Means, request: Request) -> bytes:
        """The page."""
        fetch = means.pool.fetch
        rows = await fetch(PAGE.format(condition=self.condition), self.partner_id, self.size)
        count = await means.pool.fetchval(COUNT.format(condition=self.condition), self.partner_id)
        ids = [row["id"] for row in rows]
        chosen = await fetch(CHOSEN, ids)
        links = await fetch(LINKS, [row["id"] for row in chosen])
        included, rentals = await fetch(INCLUDED, ids), await fetch(RENTALS, ids)
        coupons = await fetch(COUPONS, [row["coupon_id"] for row in rows if row["coupon_id"]])
        return self.render_by_hand(rows, count, chosen, _by(links, "option_id"), _by(included, "voucher_id"), _by(rentals, "voucher_id"), coupons)  # fmt: skip

    def render_by_hand(
        self, rows: Any, count: int, chosen: Any, links: Any, included: Any, rentals: Any, coupons: Any
    ) -> bytes:
        """What one would write by hand."""
        now, zone = dt.datetime.now(dt.UTC), ZoneInfo(self.zone)
        discounts = {row["id"]: _coupon(row, now) for row in coupons}
        options = defaultdict(list)
        for row in chosen:
            options[row["voucher_id"]].append({"option": _option(row, links.get(row["id"], ())), "count": row["count"], "total_price": _number(row["total_price_amount"])})  # fmt: skip
        results = [
            _voucher(r, now, zone, self.public_url, options.get(r["id"], []), included.get(r["id"], ()), rentals.get(r["id"], ()), discounts.get(r["coupon_id"]))
            for r in rows
        ]  # fmt: skip
        return orjson.dumps({**self.envelope, "count": count, "results": results})

    @cached_property
    def envelope(self) -> Mapping[str, Any]:
        """What stands around the rows."""
        return {name: value for name, value in orjson.loads(self.answer).items() if name != "results"}


def _by(rows: Sequence[asyncpg.Record], name: str) -> Mapping[int, Sequence[asyncpg.Record]]:
    found = defaultdict(list)
    for row in rows:
        found[row[name]].append(row)
    return found


def _number(value: Any) -> orjson.Fragment:
    return orjson.Fragment(str(value).encode())


def _names(text: str, name: str) -> dict[str, Any]:
    said = orjson.loads(text)
    return {f"{name}_{at}": said.get(at) for at in LANGUAGES}


def _texts(row: asyncpg.Record, name: str) -> dict[str, Any]:
    return {f"{name}_{at}": row[f"{name}_{at}"] or "" for at in LANGUAGES}


def _option(r: asyncpg.Record, links: Sequence[asyncpg.Record]) -> dict[str, Any]:
    price = _number(r["selling_price_amount"])
    return {
        "id": r["id"],
        **_texts(r, "name"),
        **_texts(r, "description"),
        "selling_price": price,
        "is_active": r["is_active"],
        "countable": r["countable"],
        "is_global": r["is_global"],
        "ranking": r["ranking"],
        "partner": r["partner_id"],
        "partner_uuid": str(r["uuid"]),
        "voucher_prototypes_ids": [link["id"] for link in links],
        "category_id": r["category_id"],
        "has_been_ordered": r["has_been_ordered"],
        "services_info": orjson.loads(r["services"]),
        "price": price,
        "category": r["category_id"],
        "voucher_prototypes": [{"id": link["id"], **_texts(link, "name")} for link in links],
    }


def _coupon(r: asyncpg.Record, now: dt.datetime) -> dict[str, Any]:
    percentage, amount = r["discount_percentage"], r["discount_amount"]
    begun = r["starts_on"] is None or r["starts_on"] <= now
    going_on = r["ends_on"] is None or r["ends_on"] > now
    left = r["max_usages"] is None or r["usage_count"] < r["max_usages"]
    modes = r["reception_modes"]
    return {
        "id": r["id"],
        "valid": r["is_active"] and begun and going_on and left,
        "discount_text": f"{amount:.2f} {r['currency']}" if percentage is None else f"{percentage.normalize():f} %",
        "number_of_usage": r["usage_count"],
        "new_validity_period": r["new_validity_period"],
        "booking_engine_id": r["booking_engine_id"],
        "is_activated": r["is_active"],
        **{name: r[name] for name in ("code", "type")},
        "start": moment(r["starts_on"]) or "",
        "end": moment(r["ends_on"]) or "",
        "discount": f"{amount if percentage is None else percentage:.2f}",
        "discount_type": "amount" if percentage is None else "percentage",
        "is_value_increased": r["increases_value"],
        "is_value_increased_multiple_times": r["increases_value_repeatedly"],
        "max_usage": r["max_usages"],
        "voucher_prototypes_ids": r["voucher_prototype_ids"],
        "cnc_offers_ids": r["click_and_collect_offer_ids"],
        "eshop_products_ids": r["product_ids"],
        "experience_offers_ids": r["experience_offer_ids"],
        "workshops_ids": r["workshop_ids"],
        "workshop_categories_ids": r["workshop_category_ids"],
        "events_ids": r["event_ids"],
        "flashsales_offers_ids": r["flash_sale_offer_ids"],
        "payment_amount_condition_minimum": str(r["minimum_payment_amount"] or ""),
        "giftcode": r["gift_code"],
        "email_condition": r["email_condition"],
        "price_condition_min_amount": str(r["minimum_basket_amount"] or ""),
        "product_condition_min_amount": str(r["minimum_product_price_amount"] or ""),
        **{f"activate_for_{target}": target in r["targets"] for target in TARGETS},
        "offer_delivery_cost_clickandcollect": r["free_click_and_collect"],
        **{key: not modes or mode in modes for mode, key in RECEIVED.items()},
        "partner": r["partner_id"],
    }


def _rental(r: asyncpg.Record) -> dict[str, Any]:
    return {
        "id": r["id"],
        "start_date": r["starts_on"],
        "end_date": r["ends_on"],
        "reference": r["reference"],
        "comment": r["comment"],
        "creation_date": moment(r["created_on"]) or "",
    }


def _prototype(r: asyncpg.Record) -> dict[str, Any]:
    names = _names(r["prototype_name"], "voucher_prototype_name")
    return {
        "voucher_prototype": r["voucher_prototype_id"],
        "voucher_prototype_name": names[f"voucher_prototype_name_{r['language']}"]
        or names["voucher_prototype_name_en"],
        **names,
        **_names(r["prototype_description"], "voucher_prototype_description"),
        **_names(r["prototype_rent_conditions"], "voucher_prototype_rent_conditions"),
        "voucher_prototype_type": TYPES[r["prototype_type"]],
        **{name: r[name] for name in AS_STORED},
    }


def _gifter(r: asyncpg.Record) -> dict[str, Any]:
    zip_code = r["gifter_postal_code"]
    return {
        "gifter_civility": r["gifter_civility"],
        "gifter_first_name": r["gifter_first_name"],
        "gifter_last_name": r["gifter_last_name"],
        "gifter_fullname": f"{r['gifter_first_name']} {r['gifter_last_name']}".strip(),
        "gifter_address": r["gifter_address"],
        "gifter_email": r["gifter_email"],
        "gifter_city": r["gifter_city"],
        "gifter_country": r["gifter_country"],
        "gifter_zipcode": int(zip_code) if zip_code.isascii() and zip_code.isdigit() else None,
        "gifter_wired_phone": r["gifter_wired_phone"],
        "gifter_mobile_phone": r["gifter_mobile_phone"],
    }


def _giftee(r: asyncpg.Record) -> dict[str, Any]:
    return {
        "self_gifted": r["self_gifted"],
        "giftee_first_name": r["giftee_first_name"],
        "giftee_last_name": r["giftee_last_name"],
        "giftee_email": r["giftee_email"],
        "giftee_phone_number": r["giftee_phone_number"],
    }


def _dates(r: asyncpg.Record, zone: ZoneInfo) -> dict[str, Any]:
    ends = r["expires_on"]
    return {
        "creation_date": moment(r["created_on"]) or "",
        "activation_date": moment(r["activated_on"]) or "",
        "usage_date": moment(r["used_on"]) or "",
        "expiration_date": moment(ends) or "",
        "expiration_date_display": "" if ends is None else ends.astimezone(zone).date().isoformat(),
    }


def _discount(coupon: Mapping[str, Any] | None) -> dict[str, Any]:
    return {
        "coupon": "" if coupon is None else coupon["code"],
        "coupon_details": "" if coupon is None else coupon["discount_text"],
        "coupon_for_email_details": coupon,
    }


def _allowed(r: asyncpg.Record, now: dt.datetime) -> dict[str, bool]:
    state, ends = r["state"], r["expires_on"]
    alive, over = state in {"paid", "using"}, ends is not None and ends <= now
    return {
        "is_usable": alive and r["activated_on"] is not None and r["activated_on"] <= now and not over,
        "is_extendable": (alive or state == "exprd") and ends is not None,
        "is_refundable": r["kind"] == "voucher" and r["purchase_price_amount"] > 0 and state == "paid" and not over,
    }


def _voucher(
    r: asyncpg.Record, now: dt.datetime, zone: ZoneInfo, public_url: str, options: Any, included: Any, rentals: Any, coupon: Any
) -> dict[str, Any]:  # fmt: skip
    state = r["state"]
    number, called = MODES[r["reception_mode"]]
    return {
        **{name: r[name] for name in ("id", "code", "summary", "origin")},
        **_prototype(r),
        "options": options,
        "voucher_prototype_included_options": [
            {"option": {**_texts(each, "name"), "source_id": each["source_id"]}, "count": each["count"]}
            for each in included
        ],
        "reception_mode": number,
        "reception_mode_display": called,
        **_gifter(r),
        **_giftee(r),
        "recipient_address": r["recipient_address"],
        "message": r["message"],
        **{name: str(r[f"{name}_amount"]) for name in PRICES},
        **_dates(r, zone),
        "gifter": r["gifter_id"],
        "giftee": r["giftee_id"],
        "state": state,
        "rentals": [_rental(each) for each in rentals],
        "printable_pdf_file": "" if state in {"draft", "error"} else f"{public_url}/documents/vouchers/{r['document_token']}.pdf",
        **_discount(coupon),
        "api_version": 1,
        "type": 2 if r["kind"] == "imported" else 1,
        **{name: r[name] for name in ("to_giftee", "from_gifter", "expedition_status")},
        "expedition_date": moment(r["expedition_date"]) or "",
        "cover_letter_url": r["cover_letter_url"],
        "language": r["language"],
        "is_group_payment": r["is_group_payment"],
        **_allowed(r, now),
        "payment_type": r["payment_type"],
        "imported_from": r["imported_from"],
    }  # fmt: skip
