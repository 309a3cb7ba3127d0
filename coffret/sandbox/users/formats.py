"""Checks of a user's data before it is sent: the form of a company's number in its country."""

import re
from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users.user_bodies import number_as_text
from coffret.sandbox.wire.bodies import Body, Country, Text
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint

RULES: Mapping[str, str] = {
    "BE": "0?[0-9]{9}",
    "DE": "HR[AB] ?[0-9]{1,6}",
    "ES": "[A-Z][0-9]{7}[0-9A-Z]",
    "FR": "[0-9]{9}|[0-9]{14}",
    "GB": "[0-9]{8}|[A-Z]{2}[0-9]{6}",
    "IT": "[A-Z]{2}[0-9]{6,7}|[0-9]{11}",
    "LU": "B[0-9]{1,6}",
    "NL": "[0-9]{8}",
}
"""The form of a number in some countries. In the others every number is valid."""


class CompanyNumber(Body):
    company_number: Annotated[Text, BeforeValidator(number_as_text)]
    country_code: Country


class FormatCheck(Body):
    """The body of POST /users/data-formats/validation."""

    company_number: CompanyNumber


def validate(_session: SandboxSession, call: HttpCall) -> Json:
    """POST /users/data-formats/validation"""
    asked = call.json(FormatCheck).company_number
    rule = RULES.get(asked.country_code)
    valid = rule is None or re.fullmatch(rule, asked.company_number) is not None
    return {"CompanyNumber": {**asked.to_wire(), "IsValid": valid, "ValidationRules": [rule] if rule else []}}


ENDPOINTS = (WireEndpoint("POST", "/users/data-formats/validation", validate),)
