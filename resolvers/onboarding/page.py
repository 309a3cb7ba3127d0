"""The onboarding page: what it shows, what it saves, and its button that leads to the provider."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import structlog
from pydantic import BaseModel, ValidationError
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.activation import PATIENCE, advance, failure_of
from resolvers.activation.polling import partner_changed
from resolvers.activation.steps import barred, go_on
from resolvers.core.context import Caller, Services
from resolvers.core.input_mapping import given_uuid
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from resolvers.onboarding.capability import Standing, requirements_of, standings
from schema.core.errors import Conflict, InvalidInput, NotFound, OnlyInSandbox, Problem, RepresentativeUnknown
from schema.core.messages import REQUIRED, problems
from schema.core.permission import Permission, Rule
from schema.mail import MailKind
from schema.onboarding import (
    ActivationFailureReason,
    ActivationStatus,
    Authentication,
    Onboarding,
    OnboardingDetails,
    OnboardingField,
    OnboardingLink,
    OnboardingStep,
    SendOnboardingLink,
)
from schema.partner.input import Birthday, City, Kind, Line, Name, Number, PersonName, PostalCode
from schema.partner.parts import CompanyType
from schema.validation.characters import in_one_line
from schema.validation.contact import Country, CountryCode, FilledEmail
from schema.validation.countries import country_code
from schema.validation.languages import LANGUAGES
from store.activation.account_requests import asked, missing, needed
from store.activation.activations import still_refused
from store.mail.content import OnboardingContent
from store.mail.outbox import post
from store.onboarding.links import link_for, partner_of_token, path_for
from store.partner.checks import check
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.errors import ProviderError

log = structlog.get_logger(__name__)
BEGIN_ANEW = frozenset(
    {
        ActivationFailureReason.NOT_AUTHENTICATED,
        ActivationFailureReason.ACCOUNT_CLOSED,
        ActivationFailureReason.KIND_CHANGED,
    }
)
"""After these the representative can begin another process."""


class Typed(BaseModel):
    """What may be typed into each field."""

    company_type: Kind = None
    name: Name = ""
    siret_number: Number = ""
    legal_representative_first_name: PersonName = ""
    legal_representative_last_name: PersonName = ""
    legal_representative_email: FilledEmail = ""
    legal_representative_birthday: Birthday = None
    legal_representative_nationality: CountryCode = ""
    legal_representative_country_of_residence: CountryCode = ""
    hq_address_line_1: Line = ""
    hq_postal_code: PostalCode = ""
    hq_city: City = ""
    hq_region: City = ""
    hq_country: Country = ""
    agency_email: FilledEmail = ""


async def representative_of(services: Services, token: str) -> Caller:
    """Whoever holds a good link, as a caller for the operations below. Raises NotFound for a link that is forged or dead."""
    async with services.db.sessions() as db:
        partner = await partner_of_token(db, services.settings, token)
    if partner is None:
        raise NotFound(thing="page")
    return Caller.representative(partner.id, partner.marketplace_id)


# ---- what the page shows


@operation(Rule.REPRESENTATIVE)
async def onboarding(call: Call) -> Onboarding:
    """What the page shows. Nobody is asked for it, and nothing changes."""
    return await _view(call, call.db)


@operation(Rule.REPRESENTATIVE, transaction=False)
async def onboarding_return(call: Call) -> Onboarding:
    """What the page shows once the representative is back from the provider, who is asked how it went."""
    async with call.services.db.sessions() as db:
        stands = await _standing(call, db)
    if stands.activation is not None and stands.activation.status is not ActivationStatus.FAILED:
        try:
            async with asyncio.timeout(PATIENCE.total_seconds()):
                await go_on(call.services, stands.activation.id)
        except (ProviderError, TimeoutError) as error:  # the page says how it stood, and the worker goes on asking
            log.warning("the provider could not tell how an activation stands", error=repr(error))
    async with call.services.db.sessions() as db:
        return await _view(call, db)


async def _standing(call: Call, db: AsyncSession) -> Standing:
    partner_id = call.caller.partner_id
    found = {} if partner_id is None else await standings(db, [partner_id])
    for stands in found.values():
        return stands
    raise NotFound(thing="page")


async def _view(call: Call, db: AsyncSession) -> Onboarding:
    stands = await _standing(call, db)
    partner, activation = stands.partner, stands.activation
    step, refused = _step(stands), _refused(stands)
    failed = activation is not None and activation.status is ActivationStatus.FAILED
    marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    return Onboarding(
        partner_uuid=partner.uuid,
        partner_name=partner.commercial_name,
        marketplace_name=marketplace.name,
        iban_end=partner.iban[-4:],
        accent=partner.accent_colour,
        logo_url=partner.logo_url,
        language=partner.language,
        step=step,
        asked=_asked(stands) if step is OnboardingStep.DETAILS else (),
        refused=refused,
        needs_company_number=_needs_number(partner),
        status=activation.status if activation else None,
        activation_id=activation.id if activation else None,
        failure=failure_of(call.services, partner, activation) if activation and failed else None,
        requirements=tuple(requirements_of(stands, link_for(call.services.settings, partner))),
        path=path_for(call.services.settings, partner),
    )


def _needs_number(partner: PartnerRow) -> bool | None:
    if partner.company_type is None:
        return None
    return OnboardingField.SIRET_NUMBER in needed(partner.company_type, partner.hq_country_code)


def _refused(stands: Standing) -> OnboardingField | None:
    """The field that the provider did not take and that is still the same, if it is one that the page asks for."""
    activation = stands.activation
    if activation is None or not still_refused(stands.partner, activation):
        return None
    return next((field for field in OnboardingField if field == activation.failure_field), None)


def _asked(stands: Standing) -> tuple[OnboardingField, ...]:
    wanted = {*asked(stands.partner), _refused(stands)}
    return tuple(field for field in OnboardingField if field in wanted)


def _step(stands: Standing) -> OnboardingStep:
    partner, activation = stands.partner, stands.activation
    status = activation.status if activation else None
    if status is ActivationStatus.PROCESSING:
        return OnboardingStep.PROCESSING
    if _refused(stands) or (missing(partner) and status is not ActivationStatus.COMPLETED):
        return OnboardingStep.DETAILS
    if activation is None:
        return OnboardingStep.COMPLETED if partner.payments_active else OnboardingStep.AUTHENTICATION
    if status is ActivationStatus.COMPLETED:
        renewed = activation.enrolled_email == partner.legal_representative_email
        stuck = missing(partner) or still_refused(partner, activation)
        return OnboardingStep.COMPLETED if renewed or stuck else OnboardingStep.AUTHENTICATION
    if status is ActivationStatus.FAILED:
        corrected = activation.failure is ActivationFailureReason.DATA_REFUSED and not still_refused(
            partner, activation
        )
        again = corrected or activation.failure in BEGIN_ANEW
        return OnboardingStep.AUTHENTICATION if again else OnboardingStep.FAILED
    return OnboardingStep.AUTHENTICATION


# ---- what it does


@operation(Rule.REPRESENTATIVE)
async def complete_onboarding(call: Call, input: OnboardingDetails) -> Onboarding:
    """Save what was missing, and what the provider did not take. Nothing else can be changed here.

    Raises InvalidInput with a problem at each field that cannot be, and Conflict when nothing is asked for any more.
    """
    await find(call.db, call.caller, PartnerRow, "page", lock=True, id=call.caller.partner_id)
    stands = await _standing(call, call.db)
    if _step(stands) is not OnboardingStep.DETAILS:
        raise Conflict
    partner = stands.partner
    for name, value in _typed(_asked(stands), partner, input).items():
        setattr(partner, name, value)
    try:
        check(partner, call.services.clock.now().date())
    except InvalidInput as wrong:
        raise InvalidInput(*(Problem((_field_at(p.path),), p.code, p.message) for p in wrong.problems)) from wrong
    await partner_changed(call.db, partner)
    await call.db.flush()
    return await _view(call, call.db)


def _typed(fields: Iterable[OnboardingField], partner: PartnerRow, details: OnboardingDetails) -> Mapping[str, Any]:
    """What was typed into the fields that are asked for. Raises InvalidInput where one cannot be read, or is empty."""
    given = {field: in_one_line(getattr(details, field)) for field in fields}
    kind = given.get(OnboardingField.COMPANY_TYPE) or partner.company_type
    country = country_code(given.get(OnboardingField.HQ_COUNTRY, "")) or partner.hq_country_code
    required = needed(CompanyType(kind) if kind in set(CompanyType) else None, country)
    wrong = [
        Problem((field.value,), "REQUIRED", REQUIRED)
        for field, value in given.items()
        if not value and (field in required or field is OnboardingField.COMPANY_TYPE)
    ]
    filled = {field.value: value for field, value in given.items() if value}
    try:
        typed = Typed.model_validate(filled)
    except ValidationError as error:
        wrong += [Problem(p.path[:1], p.code, p.message) for p in problems(error)]
    if wrong:
        raise InvalidInput(*wrong)
    return {name: getattr(typed, name) for name in filled}


def _field_at(path: tuple[str | int, ...]) -> str:
    """Where the page has what inputs have in groups: (`legal_representative`, `birthday`)."""
    whole, last = "_".join(map(str, path)), str(path[-1])
    return whole if whole in set(OnboardingField) else last


@operation(Rule.REPRESENTATIVE, transaction=False)
async def open_authentication(call: Call) -> Authentication:
    """Where the representative authenticates now: the link that there is, or a fresh one.

    Raises Conflict when there is something else to do first, or nothing any more: the page then says what.
    """
    async with call.services.db.sessions() as db:
        stands = await _standing(call, db)
    if _step(stands) is not OnboardingStep.AUTHENTICATION:
        raise Conflict
    _, activation = await advance(call.services, stands.partner.id, button=True)
    link = activation.link(call.services.clock.now())
    if not link or activation.link_expires_on is None:
        raise Conflict
    return Authentication(link, activation.link_expires_on)


# ---- the link


async def _partner(call: Call, given: Any) -> PartnerRow:
    return await find(call.db, call.caller, PartnerRow, "partner", uuid=given_uuid(given))


@operation(Permission.CREATE_PARTNER, exists=_partner)
async def send_onboarding_link(call: Call, input: SendOnboardingLink) -> OnboardingLink:
    """Write to the legal representative of a partner where to activate its payments. The link has no end; it opens a
    session at the provider only when the button on its page is pressed.
    """
    partner = await _partner(call, {"partner_uuid": input.partner_uuid})
    call.concerns(partner)
    if barred(call.services, partner):
        raise OnlyInSandbox
    if not partner.legal_representative_email:
        raise RepresentativeUnknown
    if input.language is not None and input.language not in LANGUAGES:
        raise InvalidInput.at("language", f"Send one of {', '.join(LANGUAGES)}.")
    url = link_for(call.services.settings, partner)
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    about = OnboardingContent(
        first_name=partner.legal_representative_first_name,
        url=url,
        is_paid=partner.payments_active,
        platform=marketplace.name,
        platform_address=marketplace.domain,
    )
    language, to = input.language or partner.language, partner.legal_representative_email
    await post(
        call.db,
        MailKind.ONBOARDING_LINK,
        to=to,
        language=language,
        partner_id=partner.id,
        about=about.model_dump(),
    )
    return OnboardingLink(url=url, recipient=to)
