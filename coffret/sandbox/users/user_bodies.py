"""Request bodies that create and change users, with the fields that owners must provide."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from coffret.sandbox.wire.bodies import AddressBody, Body, Country, Email, Flag, Tag, Text, Timestamp
from coffret.sandbox.wire.errors import ParamError


def number_as_text(value: object) -> object:
    """Convert a whole number to text: the provider takes either."""
    return str(value) if type(value) is int else value


def text_as_number(value: object) -> object:
    """Convert digits to a number: the provider takes either."""
    return int(value) if isinstance(value, str) and value.isdecimal() else value


Category = Literal["PAYER", "OWNER"]
CompanyNumber = Annotated[str, Field(min_length=1, max_length=255), BeforeValidator(number_as_text)]
PhoneNumber = Annotated[str | None, Field(min_length=1, max_length=255), BeforeValidator(lambda value: value or None)]
LegalPersonType = Literal["BUSINESS", "ORGANIZATION", "SOLETRADER", "PARTNERSHIP"]


class UserBody(Body):
    """Fields of all users."""

    user_category: Category
    terms_and_conditions_accepted: Flag
    email: Email
    tag: Tag | None = None
    sca_context: Annotated[Literal["USER_PRESENT", "USER_NOT_PRESENT"] | None, Field(exclude=True)] = None

    @model_validator(mode="after")
    def owners_accept_terms(self) -> Self:
        """An owner must accept the provider's terms."""
        if self.user_category == "OWNER" and not self.terms_and_conditions_accepted:
            raise ParamError(
                {"TermsAndConditionsAccepted": "The field TermsAndConditionsAccepted must be true for an OWNER."}
            )
        return self


class NaturalUser(UserBody):
    """The body of POST /sca/users/natural. A payer needs only names and e-mail address."""

    first_name: Text
    last_name: Text
    birthday: Timestamp | None = None
    nationality: Country | None = None
    country_of_residence: Country | None = None
    address: AddressBody | None = None
    phone_number: PhoneNumber = None
    phone_number_country: Country | None = None
    occupation: Text | None = None
    income_range: Annotated[int | None, Field(ge=1, le=6), BeforeValidator(text_as_number)] = None

    @model_validator(mode="after")
    def owners_are_known(self) -> Self:
        """An owner also needs a birthday, a nationality and a country of residence."""
        if self.user_category == "OWNER":
            require(
                {
                    "Birthday": self.birthday,
                    "Nationality": self.nationality,
                    "CountryOfResidence": self.country_of_residence,
                }
            )
        return self

    @property
    def full_name(self) -> str:
        return f"{self.first_name} {self.last_name}"


class LegalRepresentativeBody(Body):
    """The person who acts for a legal user. For a payer only the name is required."""

    first_name: Text
    last_name: Text
    email: Email | None = None
    birthday: Timestamp | None = None
    nationality: Country | None = None
    country_of_residence: Country | None = None
    phone_number: PhoneNumber = None
    phone_number_country: Country | None = None


class LegalUser(UserBody):
    """The body of POST /sca/users/legal. A payer needs only names and e-mail address."""

    legal_person_type: LegalPersonType
    name: Text
    legal_representative: LegalRepresentativeBody
    headquarters_address: AddressBody | None = None
    legal_representative_address: AddressBody | None = None
    company_number: CompanyNumber | None = None

    @model_validator(mode="after")
    def owners_are_known(self) -> Self:
        """An owner's representative must be complete. A business needs a company number."""
        if self.user_category == "OWNER":
            person = self.legal_representative
            needed = {
                "LegalRepresentative.Email": person.email,
                "LegalRepresentative.Birthday": person.birthday,
                "LegalRepresentative.Nationality": person.nationality,
                "LegalRepresentative.CountryOfResidence": person.country_of_residence,
                "HeadquartersAddress": self.headquarters_address,
            }
            require(needed | ({"CompanyNumber": self.company_number} if self.legal_person_type == "BUSINESS" else {}))
        return self

    @property
    def full_name(self) -> str:
        return self.name


def require(needed: Mapping[str, object]) -> None:
    """Raise one ParamError that names all missing fields."""
    missing = [name for name, value in needed.items() if value is None]
    if missing:
        raise ParamError({name: f"The {name} field is required." for name in missing})
