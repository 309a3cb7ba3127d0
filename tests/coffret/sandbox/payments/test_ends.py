"""How things end in the sandbox, by the tables of what the provider publishes: statuses, reasons, and what is told."""

from collections.abc import AsyncIterator

import pytest

from coffret.sandbox.payments import results
from tests.coffret.sandbox.mangopay_api import SUCCESS, MangopayApi, running
from tests.store.providers.mangopay.wire import wire
from tests.store.providers.mangopay.wire.wire import CODES, Json
from tests.store.providers.mangopay.wire.wire_objects import WireObjects

READ = {
    "create_legal_owner": "/sca/users/{}",
    "create_recipient": "/recipients/{}",
    "create_identity": "/identity-verifications/{}",
    "create_document": "/kyc/documents/{}",
    "create_hosted_payin": "/payins/{}",
    "create_payout": "/payouts/{}",
}
CONTROL = {
    "create_identity": "/identity-verifications/{}",
    "create_document": "/kyc/{}",
    "create_payout": "/payouts/{}",
}
WHY = {"reason": "DOCUMENT_UNREADABLE"}
PAID: dict[str, Json] = {"pay": {"card": SUCCESS}, "cancel": {}}


@pytest.fixture
async def things() -> AsyncIterator[WireObjects]:
    async with running() as api:
        # LIGHT, so that a proven identity changes something; without the word that goes around authentication.
        seed = {"user_id": "partner", "wallet_id": "wallet", "name": "Maison", "email": "ana@example.com"}
        await api.control("POST", "/seed", seed | {"kyc_level": "LIGHT"})
        yield WireObjects(api)


async def pass_time(api: MangopayApi, seconds: float) -> None:
    """Let time pass, beyond the life of a token."""
    await api.advance(seconds)
    await api.log_in()


async def handed_in(things: WireObjects, **chosen: object) -> Json:
    """A document that has a page and waits to be examined."""
    document = await things.create("create_document", **chosen)
    path = f"/users/partner/kyc/documents/{document['Id']}"
    assert (await things.api.call("POST", f"{path}/pages", {"File": wire.sample("base64")})).status_code == 204
    answer = await things.api.call("PUT", path, {"Status": "VALIDATION_ASKED"})
    assert answer.json()["Status"] == "VALIDATION_ASKED"
    return document


async def bring_about(things: WireObjects, end: Json, thing: Json) -> None:
    """Let it end as the table says."""
    api, outcome = things.api, end.get("outcome")
    if outcome is None:
        await pass_time(api, end["after"])
    elif end["make"] in CONTROL:
        why = WHY if outcome == "refuse" else {}
        await api.control("POST", CONTROL[end["make"]].format(thing["Id"]), {"outcome": outcome} | why)
    elif end["make"] == "create_hosted_payin":
        await api.control("POST", f"/payins/{thing['Id']}/pay", PAID[outcome])
    else:
        await things.authenticate(thing["PendingUserAction"]["RedirectUrl"], outcome)


async def events_of(api: MangopayApi, id: str) -> list[str]:
    """The kinds of event that were told of an object, each as often as it was told, by their names."""
    found: list[Json] = []
    for type in (type for types in wire.EVENTS.values() for type in types):
        found += await api.read(f"/events?EventType={type}&per_page=100")
    return sorted(event["EventType"] for event in found if event["ResourceId"] == id)


@pytest.mark.parametrize("end", CODES["ends"], ids=lambda end: f"{end['make']}-{end.get('outcome', end.get('after'))}")
async def test_how_things_end(things: WireObjects, end: Json) -> None:
    document = end["make"] == "create_document"
    thing = await handed_in(things) if document else await things.create(end["make"])
    await bring_about(things, end, thing)
    now = await things.api.read(READ[end["make"]].format(thing["Id"]))
    assert now["UserStatus" if end["make"] == "create_legal_owner" else "Status"] == end["status"]
    assert now.get("ResultCode", "") == end.get("code", "000000" if end["status"] == "SUCCEEDED" else "")
    told = await events_of(things.api, thing["Id"])
    assert [type for type in told if type != "IDENTITY_VERIFICATION_PENDING"] == sorted(end["events"])
    assert await events_of(things.api, "partner") == end.get("of_user", [])


@pytest.mark.parametrize("reason", CODES["refusals"]["document"])
async def test_a_document_is_refused_for_every_reason(things: WireObjects, reason: str) -> None:
    document = await handed_in(things)
    await things.api.control("POST", f"/kyc/{document['Id']}", {"outcome": "refuse", "reason": reason})
    refused = await things.api.read(f"/kyc/documents/{document['Id']}")
    assert (refused["Status"], refused["RefusedReasonType"]) == ("REFUSED", reason)
    assert refused["RefusedReasonMessage"]
    assert wire.problems("document", refused) == []


@pytest.mark.parametrize(("tag", "reason"), CODES["refusals"]["tags"].items())
async def test_a_document_is_refused_as_its_tag_asks(things: WireObjects, tag: str, reason: str) -> None:
    document = await handed_in(things, Tag=tag)
    await pass_time(things.api, 3600)
    refused = await things.api.read(f"/kyc/documents/{document['Id']}")
    assert (refused["Status"], refused["RefusedReasonType"]) == ("REFUSED", reason)


@pytest.mark.parametrize("reason", CODES["refusals"]["identity"])
async def test_an_identity_is_refused_for_every_reason(things: WireObjects, reason: str) -> None:
    session = await things.create("create_identity")
    path = f"/identity-verifications/{session['Id']}"
    await things.api.control("POST", path, {"outcome": "refuse", "reason": reason})
    refused = await things.api.read(path)
    assert wire.problems("identity", refused) == []
    found = [each["Type"] for check in refused["Checks"] for each in check["Reasons"]]
    assert (refused["Status"], {*found}) == ("REFUSED", {reason})


def test_every_result_code_of_the_sandbox_is_one_of_the_provider() -> None:
    assert {*results.MESSAGES} - {results.SUCCESS} <= {code for code, _, _ in wire.results()}
