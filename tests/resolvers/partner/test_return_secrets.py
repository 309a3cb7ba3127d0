"""The secret of a partner's returns: who may rotate it, and what is left of it."""

import pytest

from resolvers.partner import return_secrets
from schema.core.errors import AppError
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.partner.return_secret import RotateReturnSecret
from tests.fixtures.tenants import Tenants

ROTATE = """mutation ($input: RotateReturnSecretInput!) {
  rotateReturnSecret(input: $input) {
    issuedReturnSecret { secret previousSecretUntil } userErrors { field code }
  }
}"""


async def test_a_partner_gets_its_secret_and_it_is_kept_nowhere(tenants: Tenants) -> None:
    body = await tenants.graphql("a1", ROTATE, input={})
    first = body["data"]["rotateReturnSecret"]["issuedReturnSecret"]
    assert first["secret"].startswith("retsec_")
    assert first["previousSecretUntil"] is None
    uuid = str(tenants.partners["a1"].uuid)
    second = await return_secrets.rotate_return_secret(
        await tenants.context("market a"), RotateReturnSecret.model_validate({"partner_uuid": uuid})
    )
    assert second.secret != first["secret"]
    assert second.previous_secret_until is not None
    kept = str(await tenants.snapshot()) + str(await tenants.rows("SELECT * FROM audit_entry"))
    assert "rotate_return_secret" in kept
    for secret in (first["secret"], second.secret):
        assert secret not in kept


async def test_who_may_not_changes_nothing(tenants: Tenants) -> None:
    one = tenants.partners["a1"]
    of = {"partner_id": one.id}
    await tenants.user(
        "hand",
        "partner",
        sorted(GRANTABLE_PERMISSIONS - {Permission.MANAGE_WEBHOOK, Permission.MANAGE_MASTERADMIN}),
        **of,
    )
    before = await tenants.snapshot()
    for who, code in (
        ("hand", "FORBIDDEN"),
        ("a2", "INVALID_INPUT"),
        ("market b", "INVALID_INPUT"),
        (None, "UNAUTHENTICATED"),
    ):
        with pytest.raises(AppError) as raised:
            await return_secrets.rotate_return_secret(
                await tenants.context(who), RotateReturnSecret(partner_uuid=one.uuid)
            )
        assert raised.value.code() == code
    assert await tenants.snapshot() == before
