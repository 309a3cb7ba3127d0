"""What a marketplace prints on its invoices."""

import datetime as dt

from sqlmodel import Field

from schema.core.resource import EmbeddedColumns, embedded_type


@embedded_type("The marketplace as the issuer of invoices. Empty if unknown.", prefix="invoicer_")
class InvoicerDetails(EmbeddedColumns):
    invoicer_company_name: str = Field(default="", max_length=120, description="Legal name.")
    invoicer_address_line_1: str = Field(default="", max_length=255, description="Street and number.")
    invoicer_postal_code: str = Field(default="", max_length=20, description="Postal code.")
    invoicer_city: str = Field(default="", max_length=120, description="Town.")
    invoicer_country_code: str = Field(default="", max_length=2, description="The country, ISO 3166 alpha-2.")
    invoicer_registration_number: str = Field(
        default="", max_length=40, description="The company number: in France the SIREN or SIRET."
    )
    invoicer_vat_id: str = Field(default="", max_length=40, description="The VAT number, including the country prefix.")
    invoicer_exemption_reason: str = Field(
        default="",
        max_length=200,
        description="Why no VAT is charged, as it is printed, if the rate is 0 and the buyer does not owe it.",
    )
    invoicer_starts_on: dt.date | None = Field(
        default=None, description="The first day whose fees are invoiced; null for all that are on no invoice."
    )
    invoicer_number_prefix: str = Field(
        default="", max_length=10, description="What the numbers of new invoices begin with, such as `F-`."
    )
