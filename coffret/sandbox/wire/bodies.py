"""The kinds of value in request bodies. Strict: what the real provider would refuse is refused here too."""

from typing import Annotated, Any, Literal, Self
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
    """Refuse what a browser could not be sent to."""
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an absolute http or https URL")
    return value


def number_as_flag(value: object) -> object:
    """True and false for 1 and 0, which the provider's own SDK for Python sends."""
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
    """An object with PascalCase names. Unknown names are ignored, known ones in another case are refused."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", alias_generator=to_pascal)

    @model_validator(mode="before")
    @classmethod
    def exact_names(cls, value: Any) -> Any:
        """The provider's names are case-sensitive: a field in another case would be lost without a word."""
        if isinstance(value, dict):
            known = {str(field.alias).lower(): field.alias for field in cls.model_fields.values()}
            for name in value:
                right = known.get(str(name).lower())
                if right is not None and name != right:
                    raise ParamError({str(name): f"The field {name} is unknown: it is written {right}."})
        return value

    @classmethod
    def read(cls, value: Any) -> Self:
        """Check a decoded body; what is wrong leaves as one `ParamError` that names each field."""
        try:
            return cls.model_validate(value)
        except ValidationError as error:
            raise ParamError({where(problem): sentence(problem) for problem in error.errors()}) from None

    def written(self) -> dict[str, Any]:
        """The body under the provider's names, every field present."""
        return self.model_dump(by_alias=True)


class Money(Body):
    """An amount in the currency's smallest unit."""

    currency: Currency
    amount: Annotated[int, Field(ge=0)]


class PositiveMoney(Money):
    """An amount of at least one smallest unit."""

    amount: Annotated[int, Field(ge=1)]


class SignedMoney(Money):
    """An amount that may be negative: the fees of a refund."""

    amount: int


class Address(Body):
    """A postal address."""

    address_line1: Text
    address_line2: Annotated[str, Field(max_length=255)] | None = None
    city: Text
    region: Text | None = None
    postal_code: Text
    country: Country

    @model_validator(mode="after")
    def region_where_needed(self) -> Self:
        """Three countries have addresses that need a region."""
        if self.country in {"US", "CA", "MX"} and not self.region:
            raise ParamError({"Region": "The Region field is required for US, CA and MX."})
        return self


def where(problem: ErrorDetails) -> str:
    """`DebitedFunds.Amount` for a problem in a nested field."""
    return ".".join(str(part) for part in problem["loc"]) or "Body"


def sentence(problem: ErrorDetails) -> str:
    """What is wrong, in the provider's manner."""
    if problem["type"] == "missing":
        return f"The {where(problem)} field is required."
    return f"The field {where(problem)} is invalid: {problem['msg'].removeprefix('Value error, ')}."
