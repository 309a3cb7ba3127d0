"""What a person who has looked at the provider's says of an account that nobody knows the outcome of."""

import uuid

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.activation import partner_to_activate, told
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import asking
from schema.core.errors import Conflict, InvalidInput
from schema.core.permission import Permission
from schema.onboarding import (
    ActivationFailureReason,
    ActivationStatus,
    PaymentActivation,
    SettleActivation,
)
from store.activation.activations import ActivationRow, latest, locked_activation
from store.partner.partners import PartnerRow
from store.providers.base import NotFound as UnknownToProvider

NOT_ITS_ACCOUNT = "The provider has no account of this id that was made for this activation."


@operation(Permission.MANAGE_MASTERADMIN, transaction=False, exists=partner_to_activate)
async def settle_activation(call: Call, input: SettleActivation) -> PaymentActivation:
    """Say what became of an account, after an activation has failed with `OUTCOME_UNKNOWN`: which one it is, or that the
    provider has none. The next `activatePayments` goes on with that account, or asks for another one.
    """
    partner = await partner_to_activate(call, {"partner_uuid": input.partner_uuid})
    call.concerns(partner)
    async with call.services.db.sessions() as db:
        reference = (await _unknown(db, partner)).account_key
    if input.account_id:
        await _made_for(call, partner, input.account_id, reference)
    async with call.services.db.sessions() as db, db.begin():
        partner, activation = await locked_activation(db, (await _unknown(db, partner)).id)
        if activation.account_key != reference or partner.provider_user_id:
            raise Conflict
        activation.account_id = partner.provider_user_id = input.account_id
        if not input.account_id:
            activation.account_key, activation.account_sent_on = uuid.uuid4(), None
        activation.failure_told = True
        return told(call.services, partner, activation)


async def _unknown(db: AsyncSession, partner: PartnerRow) -> ActivationRow:
    """The last activation, if it is one of whose account nobody knows what became of it. Raises Conflict."""
    last = await latest(db, partner.id)
    unknown = last is not None and last.status is ActivationStatus.FAILED and not last.account_id
    if last is None or not unknown or last.failure is not ActivationFailureReason.OUTCOME_UNKNOWN:
        raise Conflict
    return last


async def _made_for(call: Call, partner: PartnerRow, account_id: str, reference: uuid.UUID) -> None:
    """See that the provider has this account, and that it was made for this activation."""
    async with asking("an account that may be of an activation", partner_id=partner.id):
        try:
            account = await call.services.provider.get_account(account_id)
        except UnknownToProvider as error:
            raise InvalidInput.at("account_id", NOT_ITS_ACCOUNT) from error
    if account.reference != str(reference):
        raise InvalidInput.at("account_id", NOT_ITS_ACCOUNT)
