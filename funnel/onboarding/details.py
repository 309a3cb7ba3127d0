"""The form for missing data. Known data are not displayed, because the link may have been forwarded."""

from collections.abc import Mapping

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.onboarding.request import OnboardingRequest
from funnel.onboarding.texts import MAIN, REFUSED, REQUIRED
from resolvers.onboarding import page as operations
from resolvers.onboarding.page import LENGTHS
from schema.core.errors import Conflict, InvalidInput
from schema.onboarding import Onboarding, OnboardingDetails, OnboardingField

FORM = "details"
BIRTHDAY = OnboardingField.LEGAL_REPRESENTATIVE_BIRTHDAY
PARTS = ("day", "month", "year")
"""The fields of the birthday."""
LONGEST_TYPED = 300
"""Maximum number of characters stored of a field to show it again. The operation validates the real limit."""
FIELD_ORDER = tuple(REQUIRED)
"""In the order of the page."""
SECTIONS = {"person": FIELD_ORDER[:6], "company": FIELD_ORDER[6:10], "office": FIELD_ORDER[10:]}


async def show(request: OnboardingRequest, onboarding: Onboarding) -> Response:
    """Show the form; after an error, with the typed values."""
    flash = await request.take_flash(FORM)
    if not flash.problems and onboarding.refused_field is not None:
        flash = Flash(((onboarding.refused_field, REFUSED),))
    shown = tuple(problem for problem in flash.problems if problem[0] in {*onboarding.asked_fields, MAIN})
    flash = Flash(shown, flash.fields)
    return request.render("onboarding/details.html", flash=flash, found=onboarding, limits=LENGTHS, sections=SECTIONS)


async def complete(request: OnboardingRequest) -> Response:
    """Store the typed data and redirect. Fields that were not asked for are ignored."""
    typed = _typed_values(request.form, request.onboarding)
    try:
        result = await operations.complete_onboarding(request.context, _details(typed, request.onboarding))
    except InvalidInput as error:
        await request.put_flash(FORM, Flash(_field_problems(error, request.onboarding), typed))
        return request.redirect_to_start()
    except Conflict:  # another tab was faster
        return request.redirect_to_start()
    return request.redirect(result.path)


def _typed_values(form: Mapping[str, str], onboarding: Onboarding) -> dict[str, str]:
    names = [name for field in onboarding.asked_fields for name in _names(field)]
    return {name: form.get(name, "").strip()[:LONGEST_TYPED] for name in names}


def _names(field: OnboardingField) -> list[str]:
    return [f"{field}_{part}" for part in PARTS] if field is BIRTHDAY else [field.value]


def _details(typed: Mapping[str, str], onboarding: Onboarding) -> OnboardingDetails:
    values = {field.value: typed[field] for field in onboarding.asked_fields if field is not BIRTHDAY}
    if BIRTHDAY in onboarding.asked_fields:
        values[BIRTHDAY.value] = birthday_of(*(typed[name] for name in _names(BIRTHDAY)))
    return OnboardingDetails(**values)


def birthday_of(day: str, month: str, year: str) -> str:
    """The typed date as `YYYY-MM-DD`, unvalidated; empty if nothing was typed."""
    return f"{year}-{month:0>2}-{day:0>2}" if day or month or year else ""


def _field_problems(error: InvalidInput, onboarding: Onboarding) -> tuple[tuple[str, str], ...]:
    """Errors as (field id, code), in the order of the page."""
    wrong = {str(problem.path[-1]): problem.code for problem in error.problems}
    asked = [
        (place.value, wrong.pop(place)) for place in FIELD_ORDER if place in onboarding.asked_fields and place in wrong
    ]
    return (*asked, *[(MAIN, code) for code in wrong.values()][:1])
