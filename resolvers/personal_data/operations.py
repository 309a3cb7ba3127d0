"""Export and erasure of the data of a person, by staff."""

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation, without_stored_response
from resolvers.core.scoping import find_visible
from resolvers.core.transaction import do_after_commit
from schema.core.errors import InvalidInput, NotFound
from schema.core.permission import Permission
from schema.personal_data.export import PersonalData, PersonalDataErasure
from schema.personal_data.input import ErasePersonalData, ExportPersonalData, PersonAtPartner
from store.customer import Person
from store.partner.partners import PartnerRow
from store.personal_data.erasure import erase_person
from store.personal_data.export import personal_data_of
from store.personal_data.files import file_of, offer_file, person_of_file
from store.personal_data.rows import PersonKey


@without_stored_response
@operation(Permission.MANAGE_PERSONAL_DATA)
async def export_personal_data(call: Call, input: ExportPersonalData) -> PersonalData:
    """Read all that a partner keeps about the person with an e-mail address: as data, and as a JSON file to hand over. The
    audit log records that it was read, without the address.
    """
    await call.services.audit_buffer.flush()
    partner, person = await _person(call, input)
    call.add_audit_subject(partner)
    data = await personal_data_of(call.db, person, call.services.clock.now())
    data.file_url = await offer_file(call.services.kv, call.services.settings, person)
    return data


@operation(Permission.MANAGE_PERSONAL_DATA)
async def erase_personal_data(call: Call, input: ErasePersonalData) -> PersonalDataErasure:
    """Erase names, addresses, e-mail addresses, telephone numbers and messages of the person with an e-mail address, as far
    as no law asks for them; what was sold, paid and invoiced stays, and gift cards and vouchers can still be used. It cannot
    be undone. Refused with `PERSONAL_DATA_IN_USE`, and nothing is erased, while a payment, a refund, a request or a dispute
    is open, or something is not delivered. Repeating it changes nothing.
    """
    await call.services.audit_buffer.flush()
    await call.services.api_log.flush()
    partner, person = await _person(call, input)
    call.add_audit_subject(partner)
    erased = await erase_person(call.db, person, call.services.clock.now())

    async def delete_copies() -> None:
        await call.services.files.delete(*erased.document_keys)
        for digest in erased.session_digests:
            await call.services.customer_sessions.delete_by_digest(partner.id, digest)

    do_after_commit(call.db, delete_copies)
    return erased.result


async def find_personal_data_file(context: Context, token: str) -> tuple[str, bytes]:
    """The name and the content of the file of an address. Raises NotFound if there is none, or its time is over."""
    services = context.services
    person = await person_of_file(services.kv, token)
    if person is None:
        raise NotFound(thing="file")
    now = services.clock.now()
    async with services.db.sessions() as db:
        data = await personal_data_of(db, person, now)
    return f"personal-data-{now:%Y-%m-%d}.json", file_of(data)


async def _person(call: Call, input: PersonAtPartner) -> tuple[PartnerRow, PersonKey]:
    partner = await _partner(call.db, call.caller, input.partner_id)
    reaches_network = partner.is_network_shop and call.caller.role is not Role.PARTNER
    email = Person(email=input.email).normal_email
    return partner, PersonKey(partner.id, email, partner.marketplace_id if reaches_network else None)


async def _partner(db: AsyncSession, caller: Caller, partner_id: int | None) -> PartnerRow:
    """The partner that is meant. Raises NotFound if the caller cannot see it, InvalidInput if none is named."""
    id = caller.partner_id if partner_id is None else partner_id
    if id is None:
        raise InvalidInput.at("partner_id", "Say which partner.", "REQUIRED")
    return await find_visible(db, caller, PartnerRow, "partner", id=id)
