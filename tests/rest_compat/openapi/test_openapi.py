"""The description of the interface: valid, complete, true of the answers; and the page that shows it."""

from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate

from rest_compat.openapi.schemas import rest_words, sample
from rest_compat.routes import ROUTES
from tests.described import described, description
from tests.rest_compat.clients import made_up_words
from tests.rest_compat.http.test_lists import ROUTES as LISTS
from tests.rest_compat.things import ROUTES as THINGS

CART = "/api/v2/ecommerce/cart/"


DOCUMENT = description()
MADE_UP = described({"Things": THINGS, "Lists": LISTS}, made_up_words)


@pytest.mark.parametrize("document", [DOCUMENT, MADE_UP], ids=["real", "made up"])
def test_it_is_valid_openapi(document: Any) -> None:
    assert document["openapi"].startswith("3.1")
    validate(document)


def test_every_method_of_every_route_is_described() -> None:
    shown = {(path, verb.upper()) for path, verbs in DOCUMENT["paths"].items() for verb in verbs}
    assert shown == {(route.path, verb) for route in ROUTES for verb in route.verbs}


def checker(document: Any, schema: Any) -> OAS31Validator:
    """What checks a value against a schema of the document."""
    return OAS31Validator({**schema, "components": document["components"]})


@pytest.mark.parametrize("document", [DOCUMENT, MADE_UP], ids=["real", "made up"])
def test_every_example_fits_its_schema(document: Any) -> None:
    checked = 0
    contents = [response["content"] for response in document["components"]["responses"].values()]
    for verbs in document["paths"].values():
        for operation in verbs.values():
            contents += [r["content"] for r in operation["responses"].values() if "content" in r]
            contents += [operation["requestBody"]["content"]] if "requestBody" in operation else []
    for content in contents:
        for kind in content.values():
            if "example" in kind:  # a file has none
                checker(document, kind["schema"]).validate(kind["example"])
            checked += 1
    assert checked > 10


def test_operations_have_the_names_and_titles_of_the_documentation() -> None:
    paths = DOCUMENT["paths"]
    found = {
        (operation["operationId"], operation["summary"])
        for operation in (
            paths["/api/voucher_prototypes/{id}/options/"]["get"],
            *paths["/api/vouchers/{code}/"].values(),
        )
    }
    assert found == {
        ("list_prototype_options", "List the options of a voucher prototype"),
        ("get_voucher", "Get a voucher"),
        ("update_voucher", "Change the state of a voucher"),
        ("update_voucher_put", "Change the state of a voucher"),
    }
    ids = [operation["operationId"] for verbs in paths.values() for operation in verbs.values()]
    assert len(ids) == len(set(ids))


def test_what_the_cart_input_says_is_what_it_takes() -> None:
    body = DOCUMENT["paths"][CART]["post"]["requestBody"]["content"]["application/json"]["schema"]
    check = checker(DOCUMENT, body)
    assert set(body["properties"]) == {"id", "items", "return_url"}
    assert body["required"] == ["items"]
    item = {"product_id": 1, "quantity": 0, "variant_id": None}
    good: list[Any] = [{"items": []}, {"items": [item], "id": None}]
    bad: list[Any] = [{}, {"items": [{}]}, {"items": [item | {"product_id": 0}]}, {"items": [], "return_url": 5}]
    assert all(check.is_valid(cart) for cart in good)
    assert not any(check.is_valid(cart) for cart in bad)


def test_flat_texts_and_renamed_keys_are_shown_as_they_are_sent() -> None:
    body = MADE_UP["paths"]["/api/numbered/{id}/"]["patch"]["requestBody"]["content"]["application/json"]["schema"]
    keys = set(body["properties"])
    assert {"title", "name_en", "name_pt", "price", "details"} <= keys
    assert not {"id", "label", "name"} & keys
    assert "title_fr" in body["properties"]["details"]["anyOf"][0]["properties"]
    assert body["required"] == ["title"]


def test_old_forms_public_routes_and_uploads_are_marked() -> None:
    assert MADE_UP["paths"]["/api/old/{code}/"]["get"]["deprecated"] is True
    assert DOCUMENT["paths"]["/api-token-auth/"]["post"]["security"] == []
    upload = MADE_UP["paths"]["/api/pictures/"]["post"]["requestBody"]["content"]
    assert upload["multipart/form-data"]["schema"]["properties"]["file"]["format"] == "binary"


def test_the_ends_of_a_request_are_those_of_its_operation() -> None:
    def ends(path: str, verb: str, document: Any = DOCUMENT) -> set[str]:
        return set(document["paths"][path][verb]["responses"])

    everywhere = {"200", "401", "429", "500", "503"}
    assert ends("/api/permissions/", "get") == everywhere
    assert ends("/api/giftcards/{id}/", "get") == everywhere | {"403", "404"}
    assert ends("/api/medias/", "get") == everywhere | {"400", "403", "404"}
    asked = ends("/api/payment_hub/partner/{partner_uuid}/identity_verification/", "get")
    assert asked == everywhere | {"403", "404", "409", "502", "504"}
    assert ends("/api/things/{code}/", "get", MADE_UP) >= {"402", "409", "502", "504"}


def test_what_can_be_empty_is_a_moment_or_nothing() -> None:
    voucher = DOCUMENT["components"]["schemas"]["Voucher"]["properties"]
    moment, nothing = {"type": "string", "format": "date-time"}, {"type": "string", "const": ""}
    assert voucher["creation_date"]["format"] == "date-time"
    assert voucher["usage_date"]["anyOf"] == [moment, nothing]
    assert voucher["expiration_date_display"]["anyOf"] == [{**moment, "format": "date"}, nothing]


def test_problems_are_messages_or_problems_within() -> None:
    check = checker(DOCUMENT, {"$ref": "#/components/schemas/Problems"})
    good: list[Any] = [{"a": ["No."]}, {"a": [{}, {"b": ["No."]}]}, {"a": {"b": ["No."], "non_field_errors": ["No."]}}]
    bad: list[Any] = [{"a": "No."}, {"a": [5]}, {"a": {"b": "No."}}, []]
    assert all(check.is_valid(body) for body in good)
    assert not any(check.is_valid(body) for body in bad)


def test_the_parameters_of_a_list_are_shown() -> None:
    shown = {p["name"]: p["schema"] for p in MADE_UP["paths"]["/api/cards/"]["get"]["parameters"]}
    assert shown["status"]["enum"] == ["a", "b"]
    assert shown["ordering"]["enum"] == ["created_on", "-created_on", "status", "-rate"]
    assert shown["page_size"]["maximum"] == 100
    assert set(shown) >= {"created_on__gte", "created_on__lte", "created_on__range", "page"}


def test_the_parameters_of_an_array_that_can_be_cut_are_shown() -> None:
    shown = DOCUMENT["paths"]["/api/voucher_prototypes/{id}/options/"]["get"]["parameters"]
    assert [p["name"] for p in shown] == ["id", "page", "page_size", "X-Request-Id"]
    assert "404" in DOCUMENT["paths"]["/api/medias/"]["get"]["responses"]  # a page beyond the last


def test_amounts_are_null_only_where_they_may_be() -> None:
    prototype = DOCUMENT["components"]["schemas"]["VoucherPrototype"]["properties"]
    option = DOCUMENT["components"]["schemas"]["VoucherOption"]["properties"]
    assert (prototype["stay_price"]["type"], option["selling_price"]["type"]) == ("number", "number")
    assert prototype["adults_price"]["type"] == ["number", "null"]


def test_names_of_the_graph_are_told_as_those_of_rest() -> None:
    assert rest_words("Send to `funnelUrl`, not `Token` or aB.") == "Send to `funnel_url`, not `Token` or aB."


@pytest.mark.parametrize(
    ("schema", "value"),
    [({"type": ["integer", "null"]}, 1), ({"enum": ["a"]}, "a"), ({"type": "array", "items": {}}, ["text"])],
)
def test_samples(schema: Any, value: Any) -> None:
    assert sample(schema) == value


@pytest.mark.parametrize("document", [DOCUMENT, MADE_UP], ids=["real", "made up"])
def test_the_limits_are_told_with_their_headers(document: Any) -> None:
    for methods in document["paths"].values():
        for shown in methods.values():
            assert shown["responses"]["429"] == {"$ref": "#/components/responses/TooManyRequests"}
            for status, answer in shown["responses"].items():
                headers = (
                    answer.get("headers")
                    or document["components"]["responses"][answer["$ref"].rpartition("/")[2]]["headers"]
                )
                assert ("RateLimit" in headers) is ("RateLimit-Policy" in headers) is True
                assert ("Retry-After" in headers) is (status in {"202", "409", "429", "503"})
    assert document["components"]["headers"]["Retry-After"]["schema"]["type"] == "integer"
