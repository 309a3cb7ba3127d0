"""The bodies that create and change users, and what an owner must tell of itself."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from store.providers.sandbox.wire.bodies import Address, Body, Country, Email, Tag, Text, Timestamp
from store.providers.sandbox.wire.errors import ParamError

Category = Literal["PAYER", "OWNER"]
CompanyNumber = Annotated[str, Field(min_length=1, max_length=255)]
LegalPersonType = Literal["BUSINESS", "ORGANIZATION", "SOLETRADER", "PARTNERSHIP"]


class UserBody(Body):
    """What every user has."""

    user_category: Category
    terms_and_conditions_accepted: bool = False
    email: Email
    tag: Tag | None = None

    @model_validator(mode="after")
    def owners_accept_terms(self) -> Self:
        """Nobody is an owner without having accepted the provider's terms."""
        if self.user_category == "OWNER" and not self.terms_and_conditions_accepted:
            raise ParamError(
                {"TermsAndConditionsAccepted": "The field TermsAndConditionsAccepted must be true for an OWNER."}
            )
        return self


class NaturalUser(UserBody):
    """The body of POST /sca/users/natural. A payer needs names and e-mail only."""

    first_name: Text
    last_name: Text
    birthday: Timestamp | None = None
    nationality: Country | None = None
    country_of_residence: Country | None = None
    address: Address | None = None
    phone_number: Text | None = None
    phone_number_country: Country | None = None

    @model_validator(mode="after")
    def owners_are_known(self) -> Self:
        """An owner also has a birthday, a nationality and a country of residence."""
        needed = {
            "Birthday": self.birthday,
            "Nationality": self.nationality,
            "CountryOfResidence": self.country_of_residence,
        }
        missing = [name for name, value in needed.items() if value is None]
        if self.user_category == "OWNER" and missing:
            raise ParamError({name: f"The {name} field is required." for name in missing})
        return self

    @property
    def full_name(self) -> str:
        """How pages call the user."""
        return f"{self.first_name} {self.last_name}"


class Representative(Body):
    """Who acts for a legal user."""

    first_name: Text
    last_name: Text
    email: Email
    birthday: Timestamp
    nationality: Country
    country_of_residence: Country
    phone_number: Text | None = None
    phone_number_country: Country | None = None


class LegalUser(UserBody):
    """The body of POST /sca/users/legal."""

    legal_person_type: LegalPersonType
    name: Text
    legal_representative: Representative
    headquarters_address: Address
    legal_representative_address: Address | None = None
    company_number: CompanyNumber | None = None

    @model_validator(mode="after")
    def businesses_are_registered(self) -> Self:
        """A business has a number in its country's register."""
        if self.legal_person_type == "BUSINESS" and not self.company_number:
            raise ParamError({"CompanyNumber": "The CompanyNumber field is required for a BUSINESS."})
        return self

    @property
    def full_name(self) -> str:
        """How pages call the user."""
        return self.name
