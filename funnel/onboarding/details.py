"""The form for what is missing. What is known already is neither asked nor shown: the link may have been forwarded."""

from collections.abc import Mapping

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.onboarding.request import Representative
from funnel.onboarding.texts import LENGTHS, MAIN, REFUSED, REQUIRED
from resolvers.onboarding import page as operations
from schema.core.errors import Conflict, InvalidInput
from schema.onboarding import Onboarding, OnboardingDetails, OnboardingField

FORM = "details"
BIRTHDAY = OnboardingField.LEGAL_REPRESENTATIVE_BIRTHDAY
PARTS = ("day", "month", "year")
"""Of the birthday, as they are typed."""
LONGEST_TYPED = 300
"""Of what is kept of a field to show it again; what fits is for the operation to say."""
PLACES = tuple(REQUIRED)
"""In the order of the page."""
SECTIONS = {"person": PLACES[:6], "company": PLACES[6:10], "office": PLACES[10:]}


async def show(visit: Representative, found: Onboarding) -> Response:
    """The form, after a refusal as it was typed."""
    flash = await visit.found(FORM)
    if not flash.problems and found.refused is not None:
        flash = Flash(((found.refused, REFUSED),))
    shown = tuple(problem for problem in flash.problems if problem[0] in {*found.asked, MAIN})
    flash = Flash(shown, flash.fields)
    return visit.page("onboarding/details.html", flash=flash, found=found, limits=LENGTHS, sections=SECTIONS)


async def complete(visit: Representative) -> Response:
    """Save what was typed, and go on; what is not asked for is not read."""
    typed = _typed(visit.form, visit.onboarding)
    try:
        found = await operations.complete_onboarding(visit.context, _details(typed, visit.onboarding))
    except InvalidInput as error:
        await visit.leave(FORM, Flash(_placed(error, visit.onboarding), typed))
        return visit.to_start()
    except Conflict:  # another tab was quicker
        return visit.to_start()
    return visit.redirect(found.path)


def _typed(form: Mapping[str, str], found: Onboarding) -> dict[str, str]:
    names = [name for field in found.asked for name in _names(field)]
    return {name: form.get(name, "").strip()[:LONGEST_TYPED] for name in names}


def _names(field: OnboardingField) -> list[str]:
    return [f"{field}_{part}" for part in PARTS] if field is BIRTHDAY else [field.value]


def _details(typed: Mapping[str, str], found: Onboarding) -> OnboardingDetails:
    values = {field.value: typed[field] for field in found.asked if field is not BIRTHDAY}
    if BIRTHDAY in found.asked:
        values[BIRTHDAY.value] = birthday_of(*(typed[name] for name in _names(BIRTHDAY)))
    return OnboardingDetails(**values)


def birthday_of(day: str, month: str, year: str) -> str:
    """`YYYY-MM-DD` of what was typed, whether there is such a day or not; empty when nothing was."""
    return f"{year}-{month:0>2}-{day:0>2}" if day or month or year else ""


def _placed(error: InvalidInput, found: Onboarding) -> tuple[tuple[str, str], ...]:
    """What is wrong, as (place on the page, code), in the order of the page."""
    wrong = {str(problem.path[-1]): problem.code for problem in error.problems}
    asked = [(place.value, wrong.pop(place)) for place in PLACES if place in found.asked and place in wrong]
    return (*asked, *[(MAIN, code) for code in wrong.values()][:1])
