"""What a representative does once payments are active: refused while nobody asks for it."""

import pytest

from resolvers.onboarding import page_tasks
from schema.core.errors import Conflict, Forbidden
from schema.onboarding import BankDetailsForm, BeginTask, OnboardingTask
from tests.fixtures.activation import Newcomer


@pytest.mark.parametrize("task", list(OnboardingTask))
async def test_nothing_is_begun_that_is_not_asked_for(newcomer: Newcomer, task: OnboardingTask) -> None:
    with pytest.raises(Conflict):
        await page_tasks.begin_task(newcomer.representative, BeginTask(task))
    assert await newcomer.calls() == 0


async def test_a_bank_account_that_is_not_asked_for_is_not_saved(newcomer: Newcomer) -> None:
    given = BankDetailsForm("FR7630006000011234567890189")
    with pytest.raises(Conflict):
        await page_tasks.name_bank_account(newcomer.representative, given)
    with pytest.raises(Forbidden):
        await page_tasks.name_bank_account(newcomer.manager, given)
    assert (await newcomer.now()).iban == ""
