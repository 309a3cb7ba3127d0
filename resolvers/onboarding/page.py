"""The onboarding page: its view, its form, its redirect to the provider, and the mail with its link."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import structlog
from pydantic import BaseModel, ValidationError
from sqlalchemy import inspect
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.activation import PROVIDER_TIMEOUT, advance, failure_of
from resolvers.activation.polling import enqueue_partner_update
from resolvers.activation.steps import requires_sandbox, sync_activation
from resolvers.core.caller import Caller
from resolvers.core.input_mapping import uuid_from_input
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from resolvers.kyc.capability import OnboardingRows, load_onboarding_rows, requirements_of
from schema.activation import ActivationFailureReason, ActivationStatus
from schema.core.errors import Conflict, InvalidInput, NotFound, OnlyInSandbox, Problem, RepresentativeUnknown
from schema.core.message_names import TemplatedMessage
from schema.core.messages import REQUIRED, problems_of
from schema.core.permission import AccessRule, Permission
from schema.mail import MailKind
from schema.onboarding import (
    AuthenticationRedirect,
    Onboarding,
    OnboardingDetails,
    OnboardingField,
    OnboardingLink,
    OnboardingStep,
    SendOnboardingLink,
)
from schema.partner.input import (
    AddressLine,
    City,
    Name,
    Number,
    OptionalBirthday,
    OptionalCompanyType,
    PersonName,
    PostalCode,
)
from schema.partner.parts import CompanyType
from schema.validation.characters import clean_line
from schema.validation.contact import Country, CountryCode, RequiredEmail
from schema.validation.countries import country_code
from schema.validation.languages import LANGUAGES
from store.activation.account_requests import form_fields, missing_fields, required_fields
from store.activation.activations import is_still_refused
from store.mail.content import OnboardingContent
from store.mail.outbox import enqueue_mail
from store.onboarding.links import onboarding_path_for, onboarding_url_for, partner_of_token
from store.partner.brand import theme_of
from store.partner.checks import check_partner
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.errors import ProviderError

log = structlog.get_logger(__name__)
RETRYABLE_FAILURES = frozenset(
    {
        ActivationFailureReason.NOT_AUTHENTICATED,
        ActivationFailureReason.ACCOUNT_CLOSED,
        ActivationFailureReason.KIND_CHANGED,
    }
)
"""Failures after which the representative can start a new process."""


LENGTHS = {
    name: length
    for name in OnboardingField
    if (length := getattr(inspect(PartnerRow).columns[name].type, "length", None)) is not None
}
"""Maximum length of each text field, in characters."""


class OnboardingForm(BaseModel):
    """Validation of the form fields."""

    company_type: OptionalCompanyType = None
    name: Name = ""
    siret_number: Number = ""
    legal_representative_first_name: PersonName = ""
    legal_representative_last_name: PersonName = ""
    legal_representative_email: RequiredEmail = ""
    legal_representative_birthday: OptionalBirthday = None
    legal_representative_nationality: CountryCode = ""
    legal_representative_country_of_residence: CountryCode = ""
    hq_address_line_1: AddressLine = ""
    hq_postal_code: PostalCode = ""
    hq_city: City = ""
    hq_region: City = ""
    hq_country: Country = ""
    agency_email: RequiredEmail = ""


async def representative_of(services: Services, token: str) -> Caller:
    """The caller for a link: the partner's legal representative. Raises NotFound for a forged or outdated link."""
    async with services.db.sessions() as db:
        partner = await partner_of_token(db, services.settings, token)
    if partner is None:
        raise NotFound(thing="page")
    return Caller.representative(partner.id, partner.marketplace_id)


# ---- the view


@operation(AccessRule.REPRESENTATIVE)
async def onboarding(call: Call) -> Onboarding:
    """The view of the page. Does not call the provider and changes nothing."""
    return await _view(call, call.db)


@operation(AccessRule.REPRESENTATIVE, transaction=False)
async def onboarding_return(call: Call) -> Onboarding:
    """The view of the page after the return from the provider: the activation is updated from the provider first."""
    async with call.services.db.sessions() as db:
        stands = await _load_rows(call, db)
    if stands.activation is not None and stands.activation.status is not ActivationStatus.FAILED:
        try:
            async with asyncio.timeout(PROVIDER_TIMEOUT.total_seconds()):
                await sync_activation(call.services, stands.activation.id)
        except (ProviderError, TimeoutError) as error:
            # The page shows the last known state, and the worker checks again.
            log.warning("the status of an activation could not be read from the provider", error=repr(error))
    async with call.services.db.sessions() as db:
        return await _view(call, db)


async def _load_rows(call: Call, db: AsyncSession) -> OnboardingRows:
    partner_id = call.caller.partner_id
    rows_by_partner = {} if partner_id is None else await load_onboarding_rows(db, [partner_id])
    for stands in rows_by_partner.values():
        return stands
    raise NotFound(thing="page")


async def _view(call: Call, db: AsyncSession) -> Onboarding:
    stands = await _load_rows(call, db)
    partner, activation = stands.partner, stands.activation
    step, refused = _step(stands), _refused_field(stands)
    failed = activation is not None and activation.status is ActivationStatus.FAILED
    marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    return Onboarding(
        partner_uuid=partner.uuid,
        partner_name=partner.commercial_name,
        marketplace_name=marketplace.name,
        iban_end=partner.iban[-4:],
        accent=partner.accent_colour,
        theme=theme_of(partner),
        logo_url=partner.logo_url,
        language=partner.language,
        step=step,
        asked_fields=_asked_fields(stands) if step is OnboardingStep.DETAILS else (),
        refused_field=refused,
        needs_company_number=_needs_number(partner),
        status=activation.status if activation else None,
        activation_id=activation.id if activation else None,
        failure=failure_of(call.services, partner, activation) if activation and failed else None,
        requirements=tuple(requirements_of(stands, onboarding_url_for(call.services.settings, partner))),
        path=onboarding_path_for(call.services.settings, partner),
    )


def _needs_number(partner: PartnerRow) -> bool | None:
    if partner.company_type is None:
        return None
    return OnboardingField.SIRET_NUMBER in required_fields(partner.company_type, partner.hq_country_code)


def _refused_field(stands: OnboardingRows) -> OnboardingField | None:
    """The field that the provider refused and that is unchanged since, if the page has it."""
    activation = stands.activation
    if activation is None or not is_still_refused(stands.partner, activation):
        return None
    return next((field for field in OnboardingField if field == activation.failure_field), None)


def _asked_fields(stands: OnboardingRows) -> tuple[OnboardingField, ...]:
    names = {*form_fields(stands.partner), _refused_field(stands)}
    return tuple(field for field in OnboardingField if field in names)


def _step(stands: OnboardingRows) -> OnboardingStep:
    partner, activation = stands.partner, stands.activation
    status = activation.status if activation else None
    if status is ActivationStatus.PROCESSING:
        return OnboardingStep.PROCESSING
    if _refused_field(stands) or (missing_fields(partner) and status is not ActivationStatus.COMPLETED):
        return OnboardingStep.DETAILS
    if activation is None:
        return OnboardingStep.COMPLETED if partner.payments_active else OnboardingStep.AUTHENTICATION
    if status is ActivationStatus.COMPLETED:
        renewed = activation.enrolled_email == partner.legal_representative_email
        stuck = missing_fields(partner) or is_still_refused(partner, activation)
        return OnboardingStep.COMPLETED if renewed or stuck else OnboardingStep.AUTHENTICATION
    if status is ActivationStatus.FAILED:
        corrected = activation.failure is ActivationFailureReason.DATA_REFUSED and not is_still_refused(
            partner, activation
        )
        again = corrected or activation.failure in RETRYABLE_FAILURES
        return OnboardingStep.AUTHENTICATION if again else OnboardingStep.FAILED
    return OnboardingStep.AUTHENTICATION


# ---- actions


@operation(AccessRule.REPRESENTATIVE)
async def complete_onboarding(call: Call, input: OnboardingDetails) -> Onboarding:
    """Save the fields that were missing or refused by the provider. Other fields cannot be changed here.

    Raises InvalidInput with a problem at each invalid field, and Conflict if no fields are requested any more.
    """
    await find_visible(call.db, call.caller, PartnerRow, "page", lock=True, id=call.caller.partner_id)
    stands = await _load_rows(call, call.db)
    if _step(stands) is not OnboardingStep.DETAILS:
        raise Conflict
    partner = stands.partner
    for name, value in _parse_details(_asked_fields(stands), partner, input).items():
        setattr(partner, name, value)
    try:
        check_partner(partner, call.services.clock.now().date())
    except InvalidInput as wrong:
        raise InvalidInput(*(Problem((_field_at(p.path),), p.code, p.message) for p in wrong.problems)) from wrong
    await enqueue_partner_update(call.db, partner)
    await call.db.flush()
    return await _view(call, call.db)


def _parse_details(
    fields: Iterable[OnboardingField], partner: PartnerRow, details: OnboardingDetails
) -> Mapping[str, Any]:
    """The parsed values of the requested fields. Raises InvalidInput for invalid or empty required fields."""
    values = {field: clean_line(getattr(details, field)) for field in fields}
    kind = values.get(OnboardingField.COMPANY_TYPE) or partner.company_type
    country = country_code(values.get(OnboardingField.HQ_COUNTRY, "")) or partner.hq_country_code
    required = required_fields(CompanyType(kind) if kind in set(CompanyType) else None, country)
    wrong = [
        Problem((field.value,), "REQUIRED", REQUIRED)
        for field, value in values.items()
        if not value and (field in required or field is OnboardingField.COMPANY_TYPE)
    ]
    filled = {field.value: value for field, value in values.items() if value}
    try:
        typed = OnboardingForm.model_validate(filled)
    except ValidationError as error:
        wrong += [Problem(p.path[:1], p.code, p.message) for p in problems_of(error)]
    if wrong:
        raise InvalidInput(*wrong)
    return {name: getattr(typed, name) for name in filled}


def _field_at(path: tuple[str | int, ...]) -> str:
    """The form field for an input path: the page has flat fields, inputs are nested, such as (`legal_representative`,
    `birthday`).
    """
    whole, last = "_".join(map(str, path)), str(path[-1])
    return whole if whole in set(OnboardingField) else last


@operation(AccessRule.REPRESENTATIVE, transaction=False)
async def open_authentication(call: Call) -> AuthenticationRedirect:
    """The URL where the representative authenticates: the current link, or a new one.

    Raises Conflict if another step comes first or no step is left; the page then shows it.
    """
    async with call.services.db.sessions() as db:
        stands = await _load_rows(call, db)
    if _step(stands) is not OnboardingStep.AUTHENTICATION:
        raise Conflict
    _, activation = await advance(call.services, stands.partner.id, by_representative=True)
    link = activation.usable_link(call.services.clock.now())
    if not link or activation.link_expires_on is None:
        raise Conflict
    return AuthenticationRedirect(link, activation.link_expires_on)


# ---- the link


async def _partner(call: Call, input: Any) -> PartnerRow:
    return await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=uuid_from_input(input))


@operation(Permission.CREATE_PARTNER, exists=_partner)
async def send_onboarding_link(call: Call, input: SendOnboardingLink) -> OnboardingLink:
    """Send the legal representative of a partner a mail with the link to its onboarding page. The link does not expire.
    It opens a session at the provider only when the button on the page is pressed.
    """
    partner = await _partner(call, {"partner_uuid": input.partner_uuid})
    call.add_audit_subject(partner)
    if requires_sandbox(call.services, partner):
        raise OnlyInSandbox
    if not partner.legal_representative_email:
        raise RepresentativeUnknown
    if input.language is not None and input.language not in LANGUAGES:
        raise InvalidInput.at("language", TemplatedMessage("Send one of {languages}.", languages=", ".join(LANGUAGES)))
    url = onboarding_url_for(call.services.settings, partner)
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    about = OnboardingContent(
        first_name=partner.legal_representative_first_name,
        url=url,
        is_paid=partner.payments_active,
        platform=marketplace.name,
        platform_address=marketplace.domain,
    )
    language, to = input.language or partner.language, partner.legal_representative_email
    await enqueue_mail(
        call.db,
        MailKind.ONBOARDING_LINK,
        to=to,
        language=language,
        partner_id=partner.id,
        about=about.model_dump(),
    )
    return OnboardingLink(url=url, recipient=to)
