"""Documents, levels and identity verifications over REST and over GraphQL, in the words of REST."""

import json
from collections.abc import Mapping
from typing import Any

from tests.kyc_world import pdf
from tests.transports import Answer, OverGraphQL, OverRest, Transport

DOCUMENTS = "/api/payment_hub/kyc_documents/"
LEVEL = ["status", "detail", "partner", "partner_uuid", "errors"]
ENTRY = ["id", "partner", "partner_uuid", "refused_reason", "document_type", "status"]
PUSH = """mutation ($input: PushKycDocumentInput!) { pushKycDocument(input: $input) {
    kycDocument { id partner { id uuid } comment documentType } userErrors { field code message } } }"""
KYC = """query ($uuid: UUID!) { kycLevel(partnerUuid: $uuid) { status detail partnerId partnerUuid
    errors { id partnerId partnerUuid refusedReason documentType status } } }"""
OPEN = """mutation ($input: OpenIdentityVerificationInput!) { openIdentityVerification(input: $input) {
    identityVerification { redirectUrl } userErrors { field code message } } }"""
FILE = ("passport.pdf", pdf(3000), "application/pdf")


async def push(
    transport: Transport, who: str, sent: Mapping[str, Any], file: Any = FILE, key: str | None = None
) -> Answer:
    """Hand a document in, as a form with a file; in the words of REST."""
    headers = {name: value for name, value in transport.headers(who, key).items() if name != "Content-Type"}
    files = {} if file is None else {"file": file}
    client = transport.tenants.client
    if isinstance(transport, OverRest):
        form = {name: (None, str(value)) for name, value in sent.items()}
        response = await client.post(DOCUMENTS, files={**form, **files}, headers=headers)
        assert not response.is_success or response.status_code == 201
        return transport.answered(response)
    assert isinstance(transport, OverGraphQL)
    names = {"partner_uuid": "partnerUuid", "document_type": "documentType"}
    variables = {"input": {names.get(name, name): value for name, value in sent.items()} | {"file": None}}
    form = {
        "operations": (None, json.dumps({"query": PUSH, "variables": variables}, default=str)),
        "map": (None, json.dumps({"file": ["variables.input.file"]} if files else {})),
    }
    response = await client.post("/graphql/", files={**form, **files}, headers=headers)
    answer = _told(response)
    if not answer.done:
        return answer
    found = answer.result
    told = {"id": found["id"], "partner": found["partner"]["id"], "partner_uuid": found["partner"]["uuid"]}
    told |= {"comment": found["comment"], "document_type": found["documentType"]}
    return Answer(200, told, replayed=response.headers.get("Idempotent-Replayed") == "true")


def _told(response: Any) -> Answer:
    body = response.json()
    if errors := body.get("errors"):
        statuses = {
            "FORBIDDEN": 403,
            "UNAUTHENTICATED": 401,
            "TOO_LARGE": 413,
            "BAD_USER_INPUT": 400,
            "BAD_REQUEST": 400,
        }
        return Answer(statuses[errors[0]["extensions"]["code"]], message=errors[0]["message"])
    (payload,) = body["data"].values()
    if wrong := payload["userErrors"]:
        status = {"NOT_FOUND": 404, "ACTIVATION_REQUIRED": 409}.get(wrong[0]["code"], 400)
        fields = {"_".join(error["field"]).replace("T", "_t").replace("U", "_u"): error["message"] for error in wrong}
        return Answer(status, code=wrong[0]["code"], wrong=fields, message=wrong[0]["message"])
    (result,) = (value for name, value in payload.items() if name != "userErrors")
    return Answer(200, result)


async def level(transport: Transport, who: str, uuid: object) -> Answer:
    """How far a partner is identified; in the words of REST."""
    await transport.tenants.execute("UPDATE partner_kyc SET checked_on = checked_on - interval '1 hour'")
    if isinstance(transport, OverRest):
        path = f"/api/payment_hub/partner/{uuid}/kyc_level/"
        return transport.answered(await transport.tenants.client.get(path, headers=transport.headers(who)))
    assert isinstance(transport, OverGraphQL)
    answer = await transport.asked(KYC, who, {"uuid": str(uuid)})
    if not answer.done:
        return answer
    if answer.result is None:
        return Answer(404)
    found = answer.result
    errors = [dict(zip(ENTRY, error.values(), strict=True)) for error in found["errors"]]
    errors = [{**error, "status": error["status"] or ""} for error in errors]
    values = [found["status"].lower(), found["detail"], found["partnerId"], found["partnerUuid"], errors]
    return Answer(200, dict(zip(LEVEL, values, strict=True)))


async def identity(transport: Transport, who: str, uuid: object, method: str = "POST") -> Answer:
    """Open an identity verification; in the words of REST."""
    if isinstance(transport, OverRest):
        path = f"/api/payment_hub/partner/{uuid}/identity_verification/"
        return transport.answered(await transport.tenants.client.request(method, path, headers=transport.headers(who)))
    assert isinstance(transport, OverGraphQL)
    answer = await transport.changed(OPEN, who, {"partnerUuid": str(uuid)})
    return answer if not answer.done else Answer(200, {"redirect_url": answer.result["redirectUrl"]})
