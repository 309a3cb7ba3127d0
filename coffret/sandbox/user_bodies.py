"""The bodies that create and change users, and what an owner must tell of itself."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from coffret.sandbox.wire.bodies import Address, Body, Country, Email, Flag, Tag, Text, Timestamp
from coffret.sandbox.wire.errors import ParamError

Category = Literal["PAYER", "OWNER"]
CompanyNumber = Annotated[str, Field(min_length=1, max_length=255)]
LegalPersonType = Literal["BUSINESS", "ORGANIZATION", "SOLETRADER", "PARTNERSHIP"]


class UserBody(Body):
    """What every user has."""

    user_category: Category
    terms_and_conditions_accepted: Flag
    email: Email
    tag: Tag | None = None
    sca_context: Annotated[Literal["USER_PRESENT", "USER_NOT_PRESENT"] | None, Field(exclude=True)] = None

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
        """How pages call the user."""
        return f"{self.first_name} {self.last_name}"


class Representative(Body):
    """Who acts for a legal user. Of a payer's only the name has to be known."""

    first_name: Text
    last_name: Text
    email: Email | None = None
    birthday: Timestamp | None = None
    nationality: Country | None = None
    country_of_residence: Country | None = None
    phone_number: Text | None = None
    phone_number_country: Country | None = None


class LegalUser(UserBody):
    """The body of POST /sca/users/legal. A payer needs names and e-mail only."""

    legal_person_type: LegalPersonType
    name: Text
    legal_representative: Representative
    headquarters_address: Address | None = None
    legal_representative_address: Address | None = None
    company_number: CompanyNumber | None = None

    @model_validator(mode="after")
    def owners_are_known(self) -> Self:
        """Of an owner's representative all is known; a business has a number in its country's register."""
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
        """How pages call the user."""
        return self.name


def require(needed: Mapping[str, object]) -> None:
    """Refuse what is not there, all of it at once."""
    missing = [name for name, value in needed.items() if value is None]
    if missing:
        raise ParamError({name: f"The {name} field is required." for name in missing})
