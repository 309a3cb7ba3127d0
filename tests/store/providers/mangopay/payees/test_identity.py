"""Sessions in which somebody proves an identity."""

import datetime as dt
import json
from typing import Any

import pytest

from store.providers.accounts import CheckStatus, Refusal, RefusalReason
from store.providers.actions import ActionKind, UserAction
from store.providers.errors import InvalidRequest, NotAllowed, ProviderNotFound, TransientError
from store.providers.keys import new_idempotency_key
from tests.store.providers.mangopay.account import CREATED, Account, ok, refusal
from tests.store.providers.mangopay.payees.people import MOMENT, session

PATH = "/users/user_m_2/identity-verifications"
BACK = "https://shop.example/k/abcdefgh"
PAGE = UserAction(ActionKind.IDENTITY, "https://idv.provider.test/1", MOMENT + dt.timedelta(days=7))


def check(status: str, *reasons: tuple[str, str], type: str = "IDENTITY_DOCUMENT_VERIFICATION") -> dict[str, Any]:
    """One thing that a session looked at."""
    return {
        "CheckId": "check-1",
        "Type": type,
        "CheckStatus": status,
        "CreationDate": CREATED,
        "LastUpdate": CREATED,
        "Data": [{"Type": "FIRST_NAME", "Value": "Ana"}],
        "Reasons": [{"Type": reason, "Value": text} for reason, text in reasons],
    }


async def test_a_session_is_opened_on_the_providers_page(account: Account) -> None:
    route = account.on("POST", PATH, ok(session()))
    key = new_idempotency_key()
    told = await account.adapter.open_identity_check("user_m_2", return_url=BACK, key=key, sent_at=account.clock.now())
    request = route.calls.last.request
    assert (json.loads(request.content), request.headers["Idempotency-Key"]) == ({"ReturnUrl": BACK}, key)
    assert (told.id, told.account_id, told.status, told.created_at) == (
        "idv_1",
        "user_m_2",
        CheckStatus.PENDING,
        MOMENT,
    )
    assert (told.action, told.refusals, told.provider_status) == (PAGE, [], "PENDING")


@pytest.mark.parametrize(
    ("answer", "error"),
    [(refusal(403, "forbidden_ressource"), NotAllowed), (refusal(400, "param_error"), InvalidRequest)],
)
async def test_a_session_may_be_refused(account: Account, answer: Any, error: type[Exception]) -> None:
    route = account.on("POST", PATH, answer)
    with pytest.raises(error):
        await account.adapter.open_identity_check(
            "user_m_2", return_url=BACK, key=new_idempotency_key(), sent_at=account.clock.now()
        )
    assert route.call_count == 1


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        ("VALIDATED", CheckStatus.VALIDATED),
        ("REFUSED", CheckStatus.REFUSED),
        ("REVIEW", CheckStatus.IN_REVIEW),
        ("EXPIRED", CheckStatus.EXPIRED),
        ("TIMEOUT", CheckStatus.EXPIRED),
        ("OUT_OF_DATE", CheckStatus.OUTDATED),
        ("OUTDATED", CheckStatus.OUTDATED),
        ("ERROR", CheckStatus.UNKNOWN),
        ("ENCHANTED", CheckStatus.UNKNOWN),
    ],
)
async def test_what_is_over_has_no_page_and_what_is_new_to_us_counts_as_not_good(
    account: Account, status: str, meaning: CheckStatus
) -> None:
    account.on("GET", "/identity-verifications/idv_1", ok(session(Status=status)))
    told = await account.adapter.get_identity_check("idv_1")
    assert (told.status, told.provider_status, told.action) == (meaning, status, None)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("DOCUMENT_NOT_ACCEPTED", RefusalReason.NOT_ACCEPTED),
        ("FACE_MATCH_FAIL", RefusalReason.FACE_MISMATCH),
        ("DOCUMENT_FALSIFIED", RefusalReason.FALSIFIED),
        ("DOCUMENT_UNREADABLE", RefusalReason.UNREADABLE),
        ("DOCUMENT_HAS_EXPIRED", RefusalReason.HAS_EXPIRED),
        ("DOG_ATE_IT", RefusalReason.UNKNOWN),
    ],
)
async def test_a_refusal_says_why_in_our_words_and_theirs(account: Account, code: str, reason: RefusalReason) -> None:
    checks = [
        check("VALIDATED", ("FACE_MATCH_FAIL", "seen, and fine after all")),
        check("REFUSED", (code, "as they say"), ("DOCUMENT_FALSIFIED", "")),
    ]
    account.on("GET", "/identity-verifications/idv_1", ok(session(Status="REFUSED", Checks=checks)))
    told = await account.adapter.get_identity_check("idv_1")
    assert told.refusals == [
        Refusal(reason, code, "as they say"),
        Refusal(RefusalReason.FALSIFIED, "DOCUMENT_FALSIFIED", ""),
    ]


async def test_a_check_refused_without_a_reason_is_known_by_what_was_looked_at(account: Account) -> None:
    checks = [check("REFUSED", type="IDV_AGE_CHECK")]
    account.on("GET", "/identity-verifications/idv_1", ok(session(Status="REFUSED", Checks=checks)))
    told = await account.adapter.get_identity_check("idv_1")
    assert told.refusals == [Refusal(RefusalReason.UNKNOWN, "IDV_AGE_CHECK")]


@pytest.mark.parametrize("checks", [None, [], [{"CheckStatus": "REVIEW", "Reasons": None}], [{}]])
async def test_a_session_of_few_words_can_be_read(account: Account, checks: list[dict[str, Any]] | None) -> None:
    account.on("GET", "/identity-verifications/idv_1", ok(session(Checks=checks, HostedUrl=None)))
    told = await account.adapter.get_identity_check("idv_1")
    assert (told.refusals, told.action) == ([], None)


async def test_all_sessions_are_read_by_their_ids_the_newest_first(account: Account) -> None:
    brief = [
        {"Id": id, "CreationDate": CREATED, "Status": "PENDING", "UserId": "user_m_2"} for id in ("idv_1", "idv_2")
    ]
    listed = account.on("GET", PATH, ok(brief))
    for number in (1, 2):
        one = session(Id=f"idv_{number}", CreationDate=CREATED + number)
        account.on("GET", f"/identity-verifications/idv_{number}", ok(one))
    told = await account.adapter.list_identity_checks("user_m_2")
    assert [check.id for check in told] == ["idv_2", "idv_1"]
    assert all(check.action for check in told)
    assert listed.calls.last.request.url.params["Sort"] == "CreationDate:DESC"


async def test_sessions_that_cannot_all_be_read_are_not_taken_for_fewer(account: Account) -> None:
    account.on("GET", PATH, ok([session(), session(Id="idv_2")]))
    account.on("GET", "/identity-verifications/idv_1", ok(session()))
    account.on("GET", "/identity-verifications/idv_2", refusal(503))
    with pytest.raises(TransientError):
        await account.adapter.list_identity_checks("user_m_2")


async def test_a_session_that_is_not_there_is_not_found(account: Account) -> None:
    account.on("GET", "/identity-verifications/none", refusal(404, "ressource_not_found"))
    with pytest.raises(ProviderNotFound):
        await account.adapter.get_identity_check("none")
