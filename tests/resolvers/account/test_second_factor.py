"""Second factors: how they are set up, what they ask for at the log-in, and how they end."""

import asyncio
import datetime as dt
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from sqlalchemy import text

from resolvers.account import second_factor, users
from resolvers.account.administration import reset_second_factor
from resolvers.account.tokens import obtain_token
from resolvers.core.context import Context
from schema.account.token import IssuedToken, ObtainToken
from schema.core.errors import SecondFactorRequired, TooManyRequests, WrongCredentials
from schema.core.permission import Permission
from store.account.second_factor import RECOVERY_CODES
from store.core.clock import clock
from store.core.sealing import NotUnsealed, seal, unseal
from tests.changes import Direct, Transport
from tests.fixtures.tenants import PASSWORD, Tenants
from tests.resolvers.account.second_factors import App, next_step, with_second_factor

NAME = "a1@users.example"
LOG_IN = """mutation($i: ObtainTokenInput!) { obtainToken(input: $i) {
    issuedToken { token user { hasSecondFactor recoveryCodesLeft } } userErrors { field code } } }"""


async def log_in(tenants: Tenants, otp: str = "", password: str = PASSWORD) -> IssuedToken:
    return await obtain_token(Context(tenants.services), ObtainToken(username=NAME, password=password, otp=otp))


async def over_graphql(tenants: Tenants, query: str, **input: Any) -> Any:
    answer = await tenants.graphql("a1", query, i=input)
    assert "errors" not in answer, answer
    return next(iter(answer["data"].values()))


# ---- setting up


async def test_a_second_factor_is_set_up_over_graphql(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    query = "mutation($i: SetUpSecondFactorInput!) { setUpSecondFactor(input: $i) { secondFactorSetup { secret otpauthUrl } userErrors { field code } } }"
    setup = (await over_graphql(tenants, query, password=PASSWORD))["secondFactorSetup"]
    url = urlsplit(setup["otpauthUrl"])
    assert (url.scheme, url.netloc) == ("otpauth", "totp")
    asked = parse_qs(url.query)
    assert (asked["secret"], asked["issuer"]) == ([setup["secret"]], ["Coffret"])
    assert not await tenants.one("SELECT has_second_factor FROM app_user WHERE username = :name", name=NAME)
    await log_in(tenants)
    app = App(setup["secret"], [])
    query = "mutation($i: ConfirmSecondFactorInput!) { confirmSecondFactor(input: $i) { recoveryCodes { codes } userErrors { field code } } }"
    wrong = await over_graphql(tenants, query, otp=app.wrong_code())
    assert wrong == {"recoveryCodes": None, "userErrors": [{"field": ["otp"], "code": "INVALID"}]}
    codes = (await over_graphql(tenants, query, otp=app.code()))["recoveryCodes"]["codes"]
    assert len(set(codes)) == RECOVERY_CODES
    me = (await tenants.graphql("a1", "{ me { user { hasSecondFactor recoveryCodesLeft } } }"))["data"]["me"]
    assert me == {"user": {"hasSecondFactor": True, "recoveryCodesLeft": RECOVERY_CODES}}
    next_step()
    refused = await tenants.graphql(None, LOG_IN, i={"username": NAME, "password": PASSWORD})
    assert refused["data"]["obtainToken"]["userErrors"] == [{"field": [], "code": "SECOND_FACTOR_REQUIRED"}]
    done = await tenants.graphql(None, LOG_IN, i={"username": NAME, "password": PASSWORD, "otp": app.code()})
    assert done["data"]["obtainToken"]["issuedToken"]["user"]["hasSecondFactor"] is True


async def test_setting_up_again_replaces_what_was_not_confirmed(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    secrets = [await _secret(tenants) for _ in range(2)]
    assert secrets[0] != secrets[1]
    late, app = App(secrets[0], []), App(secrets[1], [])
    before = await tenants.snapshot()
    refused = await Direct(tenants).change("a1", second_factor.set_up_second_factor, password="a guess")
    assert refused.wrong == {("password", "INVALID")}
    assert (await _confirm(tenants, late.code())).wrong == {("otp", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await _confirm(tenants, app.code())).done
    assert (await _set_up(tenants)).wrong == {("", "SECOND_FACTOR_ACTIVE")}
    assert (await _confirm(tenants, app.code(1))).wrong == {("", "SECOND_FACTOR_ACTIVE")}


async def test_wrong_proofs_of_a_user_are_audited(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    wrong = app.wrong_code()
    ask = Direct(tenants)
    assert not (await ask.change("a1", second_factor.disable_second_factor, password="a guess", otp=app.code())).done
    assert not (await ask.change("a1", second_factor.disable_second_factor, password=PASSWORD, otp=wrong)).done
    assert not (await ask.change("a1", second_factor.renew_recovery_codes, otp=wrong)).done
    given = {"current_password": "a guess", "new_password": "another horse battery"}
    assert not (await ask.change("a1", users.change_password, **given)).done
    assert not (await ask.change("a1", users.change_password, **given | {"new_password": "short"})).done
    await tenants.services.audit_buffer.flush()
    entries = await tenants.rows(
        "SELECT operation, refused, user_id, input::text FROM audit_entry WHERE refused IS NOT NULL ORDER BY id"
    )
    user = tenants.users["a1"].id
    refused = ["disable_second_factor"] * 2 + ["renew_recovery_codes", "change_password"]
    assert [tuple(row[:3]) for row in entries] == [(name, "INVALID_INPUT", user) for name in refused]
    assert not any(secret in row[3] for row in entries for secret in ("a guess", wrong, PASSWORD, "battery"))


async def test_a_new_password_forgets_a_secret_that_was_not_confirmed(tenants: Tenants) -> None:
    """Whoever knew the former password may have begun it."""
    await tenants.with_password("a1", PASSWORD)
    app = App(await _secret(tenants), [])
    given = {"current_password": PASSWORD, "new_password": "another horse battery"}
    assert (await Direct(tenants).change("a1", users.change_password, **given)).done
    assert (await _confirm(tenants, app.code())).wrong == {("otp", "INVALID")}
    assert not await tenants.one("SELECT has_second_factor FROM app_user WHERE username = :name", name=NAME)
    confirmed = await with_second_factor(tenants)
    given = {"current_password": PASSWORD, "new_password": "another horse battery"}
    assert (await Direct(tenants).change("a1", users.change_password, **given)).done
    await log_in(tenants, confirmed.code(), "another horse battery")


async def test_the_secret_is_sealed_and_of_recovery_codes_only_digests_are_kept(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    kept = str(
        await tenants.rows(
            "SELECT to_jsonb(t)::text FROM totp t UNION ALL SELECT to_jsonb(t)::text FROM recovery_code t"
        )
    )
    sealed = await tenants.one("SELECT sealed_secret FROM totp")
    assert app.secret.encode() not in sealed
    assert all(code.replace("-", "") not in kept and code not in kept for code in app.recovery_codes)
    settings = tenants.services.settings
    assert unseal(settings, f"totp of user {tenants.users['a1'].id}", sealed) == app.secret.encode()
    with pytest.raises(NotUnsealed):
        unseal(settings, f"totp of user {tenants.users['a2'].id}", sealed)
    with pytest.raises(NotUnsealed):
        unseal(settings, "x", seal(settings, "x", b"plain")[:-1])
    with pytest.raises(NotUnsealed):
        unseal(settings, "x", b"")


# ---- logging in


async def test_a_code_of_the_app_lets_in_once(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    count = await tenants.one("SELECT count(*) FROM token")
    for password, otp, error in (
        (PASSWORD, "", SecondFactorRequired),
        (PASSWORD, "  ", SecondFactorRequired),
        ("a guess", "", WrongCredentials),
        ("a guess", app.code(), WrongCredentials),
        (PASSWORD, app.wrong_code(), WrongCredentials),
        (PASSWORD, "nonsense", WrongCredentials),
        (PASSWORD, "٣٣٣٣٣٣", WrongCredentials),
    ):
        with pytest.raises(error):
            await log_in(tenants, otp, password)
    assert await tenants.one("SELECT count(*) FROM token") == count
    code = app.code()
    await log_in(tenants, f" {code[:3]} {code[3:]} ")
    with pytest.raises(WrongCredentials):
        await log_in(tenants, code)
    with pytest.raises(WrongCredentials):
        await log_in(tenants, app.code(-1))
    await log_in(tenants, app.code(1))
    next_step()
    with pytest.raises(WrongCredentials):
        await log_in(tenants, app.code())


async def test_a_code_that_is_too_old_or_too_new_does_not_let_in(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    clock.advance(dt.timedelta(minutes=5))
    for steps in (-2, 2):
        with pytest.raises(WrongCredentials):
            await log_in(tenants, app.code(steps))
    await log_in(tenants, app.code(-1))


async def test_the_same_code_many_times_at_once_lets_in_once(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    for otp in (app.code(), app.recovery_codes[0]):
        answers = await asyncio.gather(*(log_in(tenants, otp) for _ in range(4)), return_exceptions=True)
        assert sum(isinstance(answer, IssuedToken) for answer in answers) == 1
        assert {type(answer) for answer in answers} == {IssuedToken, WrongCredentials}


async def test_a_recovery_code_lets_in_once(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    await log_in(tenants, app.recovery_codes[3].lower().replace("-", " "))
    with pytest.raises(WrongCredentials):
        await log_in(tenants, app.recovery_codes[3])
    me = (await tenants.graphql("a1", "{ me { user { recoveryCodesLeft } } }"))["data"]["me"]
    assert me["user"]["recoveryCodesLeft"] == RECOVERY_CODES - 1


async def test_codes_of_another_user_do_not_let_in(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    other = await with_second_factor(tenants, "a2")
    for otp in (other.code(), other.recovery_codes[0]):
        with pytest.raises(WrongCredentials):
            await log_in(tenants, otp)
    await log_in(tenants, app.code())


async def test_who_has_no_second_factor_may_send_anything(tenants: Tenants) -> None:
    await tenants.with_password("a1", PASSWORD)
    await log_in(tenants)
    await log_in(tenants, "123456")


async def test_wrong_codes_are_followed_by_pauses_from_wherever_they_come(tenants: Tenants) -> None:
    app, made = await with_second_factor(tenants), 0
    for number in range(30):
        given = ObtainToken(username=NAME, password=PASSWORD, otp=app.wrong_code())
        try:
            await obtain_token(Context(tenants.services, address=f"192.0.2.{number}"), given)
        except WrongCredentials:
            made += 1
        except TooManyRequests:
            break
    assert made <= 12
    with pytest.raises(TooManyRequests):
        await log_in(tenants, app.code())
    clock.advance(dt.timedelta(hours=1, seconds=1))
    await log_in(tenants, app.code())


async def test_a_second_factor_over_rest(tenants: Tenants) -> None:
    """The log-in of the documented interface takes the code as one more field, and answers as ever."""
    app = await with_second_factor(tenants)
    sent = {"username": NAME, "password": PASSWORD}
    refused = await tenants.client.post("/api-token-auth/", data=sent)
    assert refused.status_code == 400
    assert "second factor" in refused.text
    wrong = await tenants.client.post("/api-token-auth/", data={**sent, "otp": app.wrong_code()})
    assert wrong.status_code == 400
    assert "second factor" not in wrong.text
    good = await tenants.client.post("/api-token-auth/", data={**sent, "otp": app.code()})
    assert good.status_code == 200
    assert set(good.json()) == {"token", "uuid", "user"}


# ---- ending


async def test_recovery_codes_are_renewed(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    query = "mutation($i: RenewRecoveryCodesInput!) { renewRecoveryCodes(input: $i) { recoveryCodes { codes } userErrors { field code } } }"
    wrong = await over_graphql(tenants, query, otp=app.wrong_code())
    assert wrong["userErrors"] == [{"field": ["otp"], "code": "INVALID"}]
    codes = (await over_graphql(tenants, query, otp=app.code()))["recoveryCodes"]["codes"]
    assert len(codes) == RECOVERY_CODES
    assert not set(codes) & set(app.recovery_codes)
    with pytest.raises(WrongCredentials):
        await log_in(tenants, app.recovery_codes[0])
    await log_in(tenants, codes[0])


async def test_a_second_factor_is_turned_off_with_password_and_code(tenants: Tenants, ask: Transport) -> None:
    app = await with_second_factor(tenants)
    for wrong, field in (({"password": "a guess"}, "password"), ({"otp": app.wrong_code()}, "otp")):
        before = await tenants.snapshot()
        sent = {"password": PASSWORD, "otp": app.code(), **wrong}
        assert (await ask.change("a1", second_factor.disable_second_factor, **sent)).wrong == {(field, "INVALID")}
        assert await tenants.snapshot() == before
    assert (await ask.change("a1", second_factor.disable_second_factor, password=PASSWORD, otp=app.code())).done
    await log_in(tenants)
    assert (
        await tenants.one("SELECT count(*) FROM totp") == await tenants.one("SELECT count(*) FROM recovery_code") == 0
    )
    again = await ask.change("a1", second_factor.disable_second_factor, password=PASSWORD, otp=app.code(1))
    assert again.wrong == {("otp", "INVALID")}


async def test_who_manages_users_turns_off_what_somebody_lost(tenants: Tenants, ask: Transport) -> None:
    await with_second_factor(tenants)
    id = tenants.users["a1"].id
    await tenants.user("manager", "partner", [Permission.MANAGE_USER], partner_id=tenants.partners["a1"].id)
    before = await tenants.snapshot()
    for who, wrong in (
        ("a1", {("", "FORBIDDEN")}),
        ("market b", {("", "NOT_FOUND")}),
        ("manager", {("id", "INVALID")}),
    ):
        assert (await ask.change(who, second_factor.reset_second_factor, id=id)).wrong == wrong
    own = await ask.change("market a", second_factor.reset_second_factor, id=tenants.users["market a"].id)
    assert own.wrong == {("id", "INVALID")}
    assert await tenants.snapshot() == before
    assert (await ask.change("market a", second_factor.reset_second_factor, id=id)).done
    await log_in(tenants)
    entry = (
        await tenants.rows("SELECT subject_id, changes::text FROM audit_entry WHERE operation = 'reset_second_factor'")
    )[-1]
    assert entry[0] == str(id)
    assert "has_second_factor" in entry[1]


async def test_an_operator_turns_off_what_the_last_master_lost(tenants: Tenants) -> None:
    await with_second_factor(tenants)
    async with tenants.services.db.sessions() as db, db.begin():
        await reset_second_factor(db, NAME)
    await log_in(tenants)


async def test_with_another_secret_of_the_installation_recovery_codes_still_work(tenants: Tenants) -> None:
    app = await with_second_factor(tenants)
    await tenants.execute("UPDATE totp SET sealed_secret = sealed_secret || 'x'::bytea")
    with pytest.raises(WrongCredentials):
        await log_in(tenants, app.code())
    await log_in(tenants, app.recovery_codes[0])


async def test_no_secret_of_a_second_factor_is_in_the_audit_log(tenants: Tenants, ask: Transport) -> None:
    app = await with_second_factor(tenants)
    codes = [app.code(), app.recovery_codes[0], app.wrong_code()]
    for otp in codes:
        await asyncio.gather(log_in(tenants, otp), return_exceptions=True)
    next_step()
    last = app.code()
    assert (await ask.change("a1", second_factor.disable_second_factor, password=PASSWORD, otp=last)).done
    await tenants.services.audit_buffer.flush()
    entries = await tenants.services.db.rows(text("SELECT operation, input::text || changes::text FROM audit_entry"))
    told = {"set_up_second_factor", "confirm_second_factor", "obtain_token", "disable_second_factor"}
    assert told <= {row[0] for row in entries}
    secrets = [app.secret, PASSWORD, last, *codes, *app.recovery_codes]
    assert not [row for row in entries for secret in secrets if f'"{secret}"' in row[1]]
    assert not any(app.recovery_codes[0][-4:] in row[1] for row in entries)


async def _set_up(tenants: Tenants) -> Any:
    return await Direct(tenants).change("a1", second_factor.set_up_second_factor, password=PASSWORD)


async def _secret(tenants: Tenants) -> str:
    secret: str = (await _set_up(tenants)).result.secret
    return secret


async def _confirm(tenants: Tenants, otp: str) -> Any:
    return await Direct(tenants).change("a1", second_factor.confirm_second_factor, otp=otp)
