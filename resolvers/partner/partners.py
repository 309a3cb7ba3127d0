"""Partners: list, lookups, creation and update."""

import datetime as dt
from typing import Annotated, Any

import strawberry
from pydantic import AfterValidator, Field

from resolvers.activation.polling import enqueue_partner_update
from resolvers.core.input_mapping import apply, change_of, collect_marketplace, depends_on, uuid_from_input, values_of
from resolvers.core.lists.filters import OfMarketplace, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.media.media import path_of_picture
from resolvers.partner.lookup import find_named_partner
from resolvers.partner.payment_methods import check_methods
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.partner.input import CreatePartner, UpdatePartner
from schema.partner.network_input import CreateNetworkPartner
from schema.partner.partner import Partner, PartnerStatus
from store.partner.checks import check_partner, check_theme, company_number
from store.partner.creation import default_site_domain, free_source_id, next_id
from store.partner.partners import PartnerRow

SETTABLE_STATUSES = [PartnerStatus.ACTIVE, PartnerStatus.INACTIVE, PartnerStatus.TEST]
NUMBER = "The company number; in France the SIRET."
CompanyNumber = Annotated[str | None, Field(description=NUMBER), strawberry.argument(description=NUMBER)]


@graphql_enum
class PartnerSort(DescribedEnum):
    """Sort order of partners."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."
    NAME = "commercial_name", "By commercial name, from A to Z."
    SOURCE_ID = "source_id", "By source id, compared as text."


@graphql_input_for(Partner)
class PartnerFilter(OfMarketplace):
    """Filter for partners."""

    statuses: Annotated[list[PartnerStatus] | None, Where("status", "in")] = Field(
        default=None, description="Only partners with one of these statuses."
    )
    marketplace_id: Annotated[int | None, Where("marketplace_id")] = Field(
        default=None, description="Only partners of the marketplace with this id."
    )
    source_id: Annotated[str | None, Where("source_id")] = None
    siret_number: Annotated[
        str | None, Where("siret_number"), AfterValidator(lambda number: number and company_number(number))
    ] = Field(default=None, description="Only partners with this company number, ignoring spaces and hyphens.")
    name_contains: Annotated[str | None, Where("commercial_name", "contains")] = Field(
        default=None, description="Only partners whose commercial name contains this, ignoring case and accents."
    )
    payments_active: Annotated[bool | None, Where("payments_active")] = None
    tags: Annotated[list[str] | None, Where("tags", "has")] = Field(
        default=None, description="Only partners with all of these tags."
    )
    linked_to_vouchers: Annotated[bool | None, Where("linked_to_nv_settings")] = Field(
        default=None,
        description="Only partners that take part in the vouchers of their network, or only those that do not.",
    )
    linked_to_gift_cards: Annotated[bool | None, Where("linked_to_ngc_settings")] = Field(
        default=None,
        description="Only partners that take part in the gift cards of their network, or only those that do not.",
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only partners created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only partners created at or before this time."
    )


partners = Listing(
    Partner, PartnerFilter, PartnerSort, Permission.VIEW_PARTNER, "The partners visible to you, newest first."
)
partner = Lookup(Partner, "uuid", "partner", Permission.VIEW_PARTNER, "A partner by its uuid or its id.")
partner_with_id = Lookup(Partner, "id", "partner", Permission.VIEW_PARTNER, "A partner by its id.")


@operation(Permission.VIEW_PARTNER)
async def partner_by_company_number(
    call: Call, siret_number: CompanyNumber = None, commercial_name: str | None = None
) -> Partner:
    """A partner by its company number, its commercial name, or both; both must match the same partner.

    Spaces and hyphens in the number and the case of the name are ignored.
    """
    return await find_named_partner(call, {"siret_number": siret_number, "commercial_name": commercial_name})


@operation(Permission.CREATE_PARTNER)
async def create_partner(call: Call, input: CreatePartner) -> Partner:
    """Create a partner. It cannot receive payments until they are activated with `activatePayments`."""
    return await new_partner(call, input)


async def _partner(call: Call, input: Any, *, lock: bool = False) -> PartnerRow:
    return await find_visible(
        call.db, call.caller, PartnerRow, "partner", lock=lock, uuid=uuid_from_input(input, "uuid")
    )


@operation(Permission.UPDATE_PARTNER, exists=_partner)
async def update_partner(call: Call, input: UpdatePartner) -> Partner:
    """Update a partner.

    If its payments are active, the legal representative has to confirm a new e-mail address of the representative or a
    new bank account. Until then the previous one stays in force.
    """
    row = await _partner(call, {"uuid": input.uuid}, lock=True)
    before = row.status
    apply(row, input, skip={"uuid"})
    findings = ProblemCollector()
    with call.db.no_autoflush:
        with findings.collect():
            if row.status is PartnerStatus.NEW and before is not PartnerStatus.NEW:
                raise InvalidInput.at(
                    "status",
                    TemplatedMessage(
                        "Only the network can set this status. Send {choices}.", choices=SETTABLE_STATUSES
                    ),
                )
        with findings.collect():
            depends_on(input.head_office, input.status)  # the check of the numbers reads both
            check_partner(row, call.services.clock.now().date())
        with findings.collect():
            if input.payment_methods is not None:
                check_methods(call.services.settings, row)
        with findings.collect():
            if input.logo_url is not None:
                row.logo_url = await path_of_picture(call, row.id, row.logo_url, "logo_url")
        with findings.collect():
            if (change := change_of(input, "start_page")) and change.value.hero_picture_url is not None:
                at = "start_page", "hero_picture_url"
                row.hero_picture_url = await path_of_picture(call, row.id, row.hero_picture_url, at)
        with findings.collect():
            check_theme(row)
    findings.raise_problems()
    await call.db.flush()
    await enqueue_partner_update(call.db, row)
    call.services.authenticator.invalidate(partner_id=row.id)
    return row


async def new_partner(call: Call, input: CreatePartner | CreateNetworkPartner, **columns: Any) -> PartnerRow:
    """Insert a partner. `columns` are additional column values."""
    findings = ProblemCollector()
    marketplace = await collect_marketplace(findings, call, input)
    with findings.collect():
        row = PartnerRow(**values_of(input, skip={"marketplace_uuid", "source_id"}), **columns)
        check_partner(row, call.services.clock.now().date())
    findings.raise_problems()
    row.id, row.marketplace_id = await next_id(call.db), marketplace.id
    row.source_id = input.source_id or await free_source_id(call.db, marketplace.id, row.id)
    row.site_domain = default_site_domain(input.short_name, row.id, call.services.settings)
    call.db.add(row)
    await call.db.flush()
    return row
