"""Network vouchers and their usages: shapes and routes."""

from collections.abc import Sequence

from resolvers.network.vouchers import network_voucher, network_vouchers
from rest_compat.http.route import ResponseEnvelope, RestRoute
from rest_compat.shapes.keys import FieldKey, number, same
from rest_compat.shapes.shape import ResourceShape
from rest_compat.shapes.writers import DIGITS, ValueWriter
from schema.network.voucher import NetworkVoucher, NetworkVoucherUsage

NAME_LISTS = ValueWriter(
    "lists of names", (str,), {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}, many=True
)
NETWORK_VOUCHER = ResourceShape(
    "NetworkVoucher",
    NetworkVoucher,
    {
        **same("id", "uuid", "code", "status"),
        "creation_date": "created_on",
        "expiration_date": "expires_on",
        **same("max_usages", "usage_count"),
        "box": "box.id",
        "box_name": "content.box_name",
        "box_price": number("price.amount"),
        "is_box_active": "box.is_active",
        "description": "content.description",
        "short_description": "content.short_description",
        "universes": FieldKey("content.universes", NAME_LISTS),
        "tags": FieldKey("content.tags", NAME_LISTS),
    },
    example={
        "id": 311,
        "uuid": "0b6a1f2c-7f0e-4d0f-9a53-0f1c2b7d9e11",
        "code": "7Q4C-KX9M-2H8R-TDWE",
        "status": "using",
        "creation_date": "2026-05-02T09:29:41.204155Z",
        "expiration_date": "2027-05-02T21:59:59.000000Z",
        "max_usages": 2,
        "usage_count": 1,
        "box": 14,
        "box_name": "Two days of calm",
        "box_price": 120.0,
        "is_box_active": True,
        "description": "Two spa days for two, at a spa of your choice.",
        "short_description": "Two spa days for two",
        "universes": [["Wellness"], ["Wellness"]],
        "tags": [["south", "spa"], []],
    },
)
NETWORK_VOUCHER_USAGE = ResourceShape(
    "NetworkVoucherUsage",
    NetworkVoucherUsage,
    {
        "id": "id",
        "creation_date": "used_on",
        "network_voucher": "network_voucher_id",
        "partner": "partner.id",
        "partner_agency_name": "partner.commercial_name",
        "partner_source_id": FieldKey("partner.source_id", DIGITS),
        "is_active": "is_active",
        "comment": "visible_comment",
        "management_fees": number("management_fee.amount"),
        "commission_rate": number("visible_commission_rate"),
    },
    example={
        "id": 57,
        "creation_date": "2026-12-05T11:00:00.000000Z",
        "network_voucher": 311,
        "partner": 41,
        "partner_agency_name": "La Tisane",
        "partner_source_id": 41,
        "is_active": True,
        "comment": "Spa for two",
        "management_fees": 1.2,
        "commission_rate": 10.0,
    },
)
ROUTES: Sequence[RestRoute] = (
    RestRoute("GET", "/api/networkvouchers_by_code/{code}/", network_voucher, NETWORK_VOUCHER),
    RestRoute(
        "GET",
        "/api/networkvouchers_by_email/{email}/",
        network_vouchers,
        NETWORK_VOUCHER,
        ResponseEnvelope.ARRAY,
    ),
    RestRoute(
        "GET",
        "/api/networkvouchers_by_code/{code}/usages/",
        network_voucher,
        NETWORK_VOUCHER_USAGE,
        ResponseEnvelope.ARRAY,
        through="usages",
        newest_first=True,
    ),
)
