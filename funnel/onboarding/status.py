"""The state of an onboarding: details, provider step, processing, completed or failed."""

import datetime as dt
from dataclasses import dataclass

from starlette.responses import Response

from funnel.core.flash import Flash
from funnel.core.messages import PageMessage
from funnel.core.polling_page import schedule_poll, should_poll
from funnel.onboarding import details, provider, tasks
from funnel.onboarding.request import OnboardingRequest
from funnel.onboarding.texts import (
    ACTIVE,
    ACTIVE_WITH_NEEDS,
    DOCUMENT_REQUIREMENTS,
    FAILURES,
    REQUIREMENTS,
    SUBMIT_DOCUMENTS,
)
from resolvers.onboarding import page as operations
from resolvers.onboarding.page_tasks import task_of
from schema.kyc.capability import Requirement, RequirementCode
from schema.onboarding import Onboarding, OnboardingStep, OnboardingTask


@dataclass(frozen=True, slots=True)
class RemainingTask:
    """A task that is left. It is done on this page (`task`) or at `url`; otherwise `hint` explains it."""

    message: PageMessage
    task: OnboardingTask | None
    url: str
    hint: str
    deadline: dt.datetime | None


async def show(request: OnboardingRequest) -> Response:
    """The linked page. It changes nothing and calls no provider, so link scanners may open it."""
    return await _page(request, request.onboarding)


async def return_from_provider(request: OnboardingRequest) -> Response:
    """The provider's return URL. It asks the provider for the current state."""
    await request.check_form_limit()
    return await _page(request, await operations.onboarding_return(request.context), back=True)


async def _page(request: OnboardingRequest, onboarding: Onboarding, *, back: bool = False) -> Response:
    if onboarding.step is OnboardingStep.DETAILS:
        return await details.show(request, onboarding)
    if onboarding.step is OnboardingStep.AUTHENTICATION:
        return await provider.show(request, onboarding, back=back)
    if onboarding.step is OnboardingStep.PROCESSING:
        return _waiting_page(request, onboarding)
    if onboarding.step is OnboardingStep.COMPLETED:
        return await _completed_page(request, onboarding)
    assert onboarding.failure is not None, "an activation that failed says why"
    return request.render("onboarding/failed.html", found=onboarding, why=FAILURES[onboarding.failure.reason])


async def _completed_page(request: OnboardingRequest, onboarding: Onboarding) -> Response:
    """The page of a completed onboarding, with the remaining tasks. Blocked inflows come first."""
    blocked = [left for left in onboarding.requirements if left.code is RequirementCode.INFLOWS_BLOCKED]
    needs = [_remaining_task(request, left) for left in onboarding.requirements if left not in blocked]
    messages = REQUIREMENTS[RequirementCode.INFLOWS_BLOCKED] if blocked else ACTIVE_WITH_NEEDS if needs else ACTIVE
    flash, notes = await request.take_flash(tasks.FORM), await tasks.failure_messages(request)
    if not any(need.task is OnboardingTask.NAME_BANK_ACCOUNT for need in needs):
        flash = Flash()
    return request.render(
        "onboarding/done.html", told=messages, found=onboarding, needs=needs, notes=notes, flash=flash
    )


def _remaining_task(request: OnboardingRequest, left: Requirement) -> RemainingTask:
    """The task of a requirement, with the URL of its action unless that is this page."""
    elsewhere = left.action.startswith(("https://", "http://")) and not left.action.endswith(request.start)
    task = task_of(left)
    hint = SUBMIT_DOCUMENTS if left.code in DOCUMENT_REQUIREMENTS else ""
    code = RequirementCode.BANK_ACCOUNT_AUTHENTICATION if task is OnboardingTask.CONFIRM_BANK_ACCOUNT else left.code
    return RemainingTask(REQUIREMENTS[code], task, left.action if elsewhere else "", hint, left.deadline)


def _waiting_page(request: OnboardingRequest, onboarding: Onboarding) -> Response:
    again = request.path("return")
    automatic = should_poll(request.http_request)
    response = request.render("onboarding/waiting.html", again=again, automatic=automatic, found=onboarding)
    return schedule_poll(response, request.http_request, again)
