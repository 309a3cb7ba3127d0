"""Errors of the API in the language of whoever reads them, and in words for people."""

import string
from collections.abc import Mapping
from decimal import Decimal
from gettext import NullTranslations

import pytest

from admin.core.templates import AdminTemplates
from admin.graph.execution import REFUSALS
from admin.graph.message_texts import GRAPHQL_ERRORS, api_texts, error_texts, message_calls
from admin.graph.messages import IN_WORDS, for_people, wording
from schema.core.errors import AppError, InvalidTransition, NotFound
from schema.core.message_names import FieldName, MessageAmount, TemplatedMessage
from schema.graph.fields import ErrorCode, _error_classes
from schema.order.fulfilment import FulfilmentState
from store.core.localization.formats import Formats
from tests.admin.office import ROOT, Office, errors, notices, send
from tests.catalogues import TRANSLATED, forms

TEXTS = AdminTemplates.texts
ON_ITS_WAY = "The message of another problem, which is read where that is made."
WITHOUT_TEMPLATE: Mapping[tuple[str, str], str] = {
    ("schema/core/errors.py", "' '.join((type(self).__doc__ or '').split())"): "The catalogue: read as docstrings.",
    ("schema/core/errors.py", "self.message"): ON_ITS_WAY,
    ("schema/core/errors.py", "message"): ON_ITS_WAY,
    ("schema/core/input_errors.py", "problem.message"): ON_ITS_WAY,
    ("schema/core/messages.py", "known"): "Those of pydantic: read from MESSAGES.",
    ("schema/core/messages.py", "template"): "Those of validation: read where they are raised.",
    ("schema/validation/templated_errors.py", "template"): "Those of validation: read where they are raised.",
    ("schema/core/messages.py", "message_of(found)"): "Those of pydantic: read from MESSAGES.",
    ("schema/core/text_input.py", "told['msg']"): "That of an address in one language, read at the address.",
    ("schema/partner/input.py", "self.message"): "Read where statuses are limited.",
    ("resolvers/cart/carts.py", "problem"): "Programs save these carts: nobody types the address.",
    ("resolvers/cart/lines.py", "match.message"): ON_ITS_WAY,
    ("resolvers/cart/multi_product_carts.py", "each.message"): ON_ITS_WAY,
    ("resolvers/catalogue/option_links.py", "problem.message"): ON_ITS_WAY,
    ("resolvers/checkout/basket.py", "NOT_SOLD.message"): ON_ITS_WAY,
    ("resolvers/coupon.py", "message"): ON_ITS_WAY,
    ("resolvers/media/media.py", "error.args[0]"): "Read where the picture is refused.",
    ("resolvers/onboarding/page.py", "p.message"): ON_ITS_WAY,
    ("resolvers/onboarding/page_tasks.py", "p.message"): ON_ITS_WAY,
    ("resolvers/payment/fees.py", "error.message()"): "That of an amount, read at the amount.",
    ("resolvers/voucher/imports.py", "p.message"): ON_ITS_WAY,
    ("resolvers/core/imported_codes.py", "many"): "Read where the codes are.",
    ("resolvers/core/imported_codes.py", "most"): "Read where the codes are.",
    ("resolvers/gift_card/imports.py", "p.message"): ON_ITS_WAY,
    ("schema/graph/lists.py", "each['message']"): ON_ITS_WAY,
    ("schema/graph/lists.py", "error.message"): ON_ITS_WAY,
    ("resolvers/voucher/issuing.py", "p.message"): ON_ITS_WAY,
    ("resolvers/webhook/endpoints.py", "error.args[0]"): "Read where the address is refused.",
    ("store/document/drawing/upload.py", "told"): "Said by another process, by the same refusals.",
    ("store/media/media.py", "message"): "An argument.",
}
"""Messages whose text cannot be read where they are made: place and source, and why."""


class Shouting(NullTranslations):
    """Translations into capitals, which leave placeholders and names as they are."""

    def gettext(self, message: str) -> str:
        if message.startswith("Ü"):
            return message
        keep = {part[1] for part in string.Formatter().parse(message) if part[1]}
        text = message.upper()
        for name in keep:
            text = text.replace(f"{{{name.upper()}}}", f"{{{name}}}")
        return "Ü" + text


def test_the_text_of_every_message_is_known() -> None:
    unread = {(call.place, call.source) for call in message_calls() if not call.texts}
    assert unread == WITHOUT_TEMPLATE.keys()


def test_every_error_of_the_catalogue_is_translated() -> None:
    texts = api_texts()
    for kind in _error_classes():
        if kind is not AppError and kind.code() in ErrorCode.__members__ and kind.code() not in REFUSALS:
            message = for_people(" ".join((kind.__doc__ or "").split()))
            if message == "{missing}":
                continue
            assert message in texts or message in IN_WORDS.values(), kind
    assert "No such {thing}." in texts
    assert "gift card" in texts
    assert "The payment provider has not identified the partner yet." in texts, "a part of {missing}"
    assert GRAPHQL_ERRORS not in {kind.__module__ for kind in _error_classes()}


def test_words_for_people_replace_messages_that_exist() -> None:
    own = {text for call in message_calls() for text in call.texts} | set(error_texts())
    from_pydantic = {"Send a UUID.", "Send true or false.", "Send a file."}
    assert IN_WORDS.keys() - own - from_pydantic == {"Send a date and time, such as 2030-12-31T12:00:00Z."}
    assert for_people("Use letters. Send another prototype.") == "Use letters. Enter another experience."
    assert for_people("Sender unknown.") == "Sender unknown."


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_have_the_same_gaps(language: str) -> None:
    """A gap that is missing would lose a value; another one could not be filled."""
    texts = api_texts() | set(IN_WORDS.values())
    for message in TEXTS.catalogue(language):
        if isinstance(message.id, str) and message.id in texts:
            for text in filter(None, forms(message)):
                assert gaps(text) == gaps(message.id), text


def gaps(text: str) -> set[str]:
    """The names in braces."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_values_are_filled_in_after_the_translation() -> None:
    word = wording(Shouting(), Formats("de")).word
    assert word(TemplatedMessage("Send at most {most}.", most=9)) == "ÜENTER AT MOST 9."
    assert word(NotFound(thing="gift card").problems[0].message) == "ÜNO SUCH ÜGIFT CARD."
    refused = InvalidTransition(thing="An order", old=FulfilmentState.TO_PREPARE, new=FulfilmentState.SENT)
    assert word(refused.problems[0].message) == "ÜÜAN ORDER CANNOT GO FROM ÜTO PREPARE TO ÜSENT."
    named = TemplatedMessage("Send {names}.", names=[FieldName("partner_uuid"), FieldName("source_id")])
    assert word(named) == "ÜENTER ÜÜPARTNER OR ÜSOURCE."
    left = TemplatedMessage("Only {left} is left.", left=MessageAmount(Decimal("1240.00"), "EUR"))
    assert word(left) == "ÜONLY 1.240,00\N{NO-BREAK SPACE}€ IS LEFT."
    assert word("") == ""


def test_names_of_fields_and_values_are_labels() -> None:
    word = wording(NullTranslations(), Formats("en")).word
    assert word("A voucher is issued as `PAID` or as `DRAFT`.") == "A voucher is issued as “Paid” or as “Draft”."
    assert word("Send a day that is not before `createdOn`.") == "Enter a day that is not before “Created”."


async def test_a_refused_form_is_in_the_language_of_the_page(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEXTS._compiled, "de", Shouting())
    staff = await office.open("a1", f"{ROOT}coupons/new/create-coupon/")
    browser = office.browser("a1")
    browser.http.headers["accept-language"] = "de"
    await office.open("a1", f"{ROOT}coupons/new/create-coupon/")
    before = await office.tenants.snapshot()
    await send(staff, code="A1-TEN", discount__percentage="101", maxUsages="0")
    assert staff.response.status_code == 400
    assert errors(staff) == {"discount.percentage": "ÜENTER AT MOST 100.", "maxUsages": "ÜENTER 1 OR MORE."}
    await send(staff, discount__percentage="10", maxUsages="1")
    assert errors(staff) == {"code": "ÜTHIS ÜCODE IS TAKEN."}
    assert notices(staff) == []
    assert await office.tenants.snapshot() == before


async def test_the_api_answers_in_english(office: Office) -> None:
    mutation = """mutation { createCoupon(input: {code: "A1-TEN", discount: {percentage: "10"}}) {
      userErrors { code message } } }"""
    answer = await office.tenants.graphql("a1", mutation)
    told = {"code": "ALREADY_TAKEN", "message": "This code is taken."}
    assert answer["data"]["createCoupon"]["userErrors"] == [told]
