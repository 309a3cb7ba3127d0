"""Types of request bodies. Validation is strict: what the provider refuses is refused here."""

from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_pascal
from pydantic_core import ErrorDetails

from coffret.sandbox.wire.errors import ParamError

Currency = Literal[
    "AED", "AUD", "CAD", "CHF", "CNH", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "ILS",
    "JPY", "MXN", "NOK", "NZD", "PLN", "RON", "SAR", "SEK", "SGD", "TRY", "USD", "ZAR",
]  # fmt: skip


def web_address(value: str) -> str:
    """Raise ValueError unless the value is an absolute http or https URL."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an absolute http or https URL")
    return value


def number_as_flag(value: object) -> object:
    """Convert 1 and 0 to booleans: the provider's Python SDK sends them."""
    return bool(value) if type(value) is int and value in {0, 1} else value


Flag = Annotated[bool, BeforeValidator(number_as_flag)]
Id = Annotated[str, Field(min_length=1, max_length=128)]
Text = Annotated[str, Field(min_length=1, max_length=255)]
Tag = Annotated[str, Field(max_length=255)]
Country = Annotated[str, Field(pattern="^[A-Z]{2}$")]
Email = Annotated[str, Field(max_length=255, pattern=r"^[^@\s]+@[^@\s]+$")]
Url = Annotated[str, AfterValidator(web_address)]
Timestamp = int


class Body(BaseModel):
    """A JSON object with PascalCase names. Unknown names are ignored. Known names in another case are refused, unless
    they are in `any_case`.
    """

    any_case: ClassVar[frozenset[str]] = frozenset()
    """Fields that the provider is known to read in every case."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", alias_generator=to_pascal)

    @model_validator(mode="before")
    @classmethod
    def exact_names(cls, value: Any) -> Any:
        """The provider's names are case-sensitive.

        A field in another case would be ignored silently, so it is refused.
        """
        if not isinstance(value, dict):
            return value
        known = {str(field.alias).lower(): str(field.alias) for field in cls.model_fields.values()}
        read = {}
        for name, given in value.items():
            right = known.get(str(name).lower(), name)
            if name != right and right not in cls.any_case:
                raise ParamError({str(name): f"The field {name} is unknown: it is written {right}."})
            read[right] = given
        return read

    @classmethod
    def read(cls, value: Any) -> Self:
        """Validate a decoded body. Raises one ParamError that names every invalid field."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise ParamError({where(problem): sentence(problem) for problem in error.errors()}) from None

    def to_wire(self) -> dict[str, Any]:
        """The body with the provider's names, including unset fields."""
        return self.model_dump(by_alias=True)


class MoneyBody(Body):
    """An amount in the currency's smallest unit."""

    currency: Currency
    amount: Annotated[int, Field(ge=0)]


class PositiveMoney(MoneyBody):
    """An amount of at least one of the currency's smallest unit."""

    amount: Annotated[int, Field(ge=1)]


class SignedMoney(MoneyBody):
    """An amount that may be negative, for the fees of a refund."""

    amount: int


class AddressBody(Body):
    address_line1: Text
    address_line2: Annotated[str, Field(max_length=255)] | None = None
    city: Text
    region: Text | None = None
    postal_code: Text
    country: Country

    @model_validator(mode="after")
    def region_where_needed(self) -> Self:
        """Addresses in three countries require a region."""
        if self.country in {"US", "CA", "MX"} and not self.region:
            raise ParamError({"Region": "The Region field is required for US, CA and MX."})
        return self


def where(problem: ErrorDetails) -> str:
    """The path of a field: `DebitedFunds.Amount`."""
    return ".".join(str(part) for part in problem["loc"]) or "Body"


def sentence(problem: ErrorDetails) -> str:
    """The provider's error message for a validation problem."""
    if problem["type"] == "missing":
        return f"The {where(problem)} field is required."
    return f"The field {where(problem)} is invalid: {problem['msg'].removeprefix('Value error, ')}."
