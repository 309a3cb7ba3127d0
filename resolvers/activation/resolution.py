"""Manual resolution of an activation whose account request has an unknown outcome."""

import uuid

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.activation import partner_to_activate, payment_activation_of
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import calling_provider
from schema.activation import ActivationFailureReason, ActivationStatus, PaymentActivation, SettleActivation
from schema.core.errors import Conflict, InvalidInput
from schema.core.permission import Permission
from store.activation.activations import ActivationRow, latest_activation, locked_activation
from store.partner.partners import PartnerRow
from store.providers.errors import ProviderNotFound as UnknownToProvider

NOT_ITS_ACCOUNT = "The provider has no account with this id that was created for this activation."


@operation(Permission.MANAGE_MASTERADMIN, transaction=False, exists=partner_to_activate)
async def settle_activation(call: Call, input: SettleActivation) -> PaymentActivation:
    """Resolve an activation that failed with `OUTCOME_UNKNOWN`: report the id of the account at the provider, or that
    there is none. The next `activatePayments` continues with that account, or requests a new one.
    """
    partner = await partner_to_activate(call, {"partner_uuid": input.partner_uuid})
    call.add_audit_subject(partner)
    async with call.services.db.sessions() as db:
        reference = (await _find_unknown_outcome(db, partner)).account_key
    if input.account_id:
        await _check_account_reference(call, partner, input.account_id, reference)
    async with call.services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, (await _find_unknown_outcome(db, partner)).id)
        if activation.account_key != reference or partner.provider_user_id:
            raise Conflict
        activation.account_id = partner.provider_user_id = input.account_id
        if not input.account_id:
            activation.account_key, activation.account_sent_on = uuid.uuid4(), None
        activation.failure_told = True
        return payment_activation_of(call.services, partner, activation)


async def _find_unknown_outcome(db: AsyncSession, partner: PartnerRow) -> ActivationRow:
    """The latest activation, if it failed with OUTCOME_UNKNOWN and has no account. Raises Conflict otherwise."""
    last = await latest_activation(db, partner.id)
    unknown = last is not None and last.status is ActivationStatus.FAILED and not last.account_id
    if last is None or not unknown or last.failure is not ActivationFailureReason.OUTCOME_UNKNOWN:
        raise Conflict
    return last


async def _check_account_reference(call: Call, partner: PartnerRow, account_id: str, reference: uuid.UUID) -> None:
    """Raise InvalidInput unless the provider has this account and it was created for this activation."""
    async with calling_provider("reading the account of an activation", partner_id=partner.id):
        try:
            account = await call.services.provider.get_account(account_id)
        except UnknownToProvider as error:
            raise InvalidInput.at("account_id", NOT_ITS_ACCOUNT) from error
    if account.reference != str(reference):
        raise InvalidInput.at("account_id", NOT_ITS_ACCOUNT)
