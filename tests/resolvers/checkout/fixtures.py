"""What all tests of the checkout speak of: the ways of delivery, and refusals by their code."""

from typing import Any

import pytest

from schema.core.errors import InvalidInput
from schema.delivery.delivery import DeliveryKind

HOME, COLLECT, DIGITAL = DeliveryKind.HOME_DELIVERY, DeliveryKind.CLICK_AND_COLLECT, DeliveryKind.DIGITAL


async def catch_refusal(code: str, call: Any) -> InvalidInput:
    """The error of a call that must be refused with this code alone."""
    with pytest.raises(InvalidInput) as error:
        await call
    assert {problem.code for problem in error.value.problems} == {code}
    return error.value
