"""VAT numbers: which are proved, and how they are written."""

import pytest

from schema.validation.vat import buyer_vat_number, is_reverse_charge, vat_number


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("fr 40 303 265 045", "FR40303265045"),
        ("DE-136.695.976", "DE136695976"),
        ("GR094259216", "EL094259216"),
        ("EL094259216", "EL094259216"),
        ("CHE-123.456.788", "CHE123456788"),
        ("44732829320", ""),
        ("TVA FR40303265045", ""),
        ("FR40303265046", ""),
        ("AB123456", ""),
        ("EU372000041", ""),
        ("IM3720000047", ""),
        ("", ""),
    ],
)
def test_a_number_is_written_in_one_way_or_is_none(text: str, written: str) -> None:
    assert vat_number(text) == written


def test_only_businesses_of_different_member_states_owe_the_vat() -> None:
    seller = "FR40303265045"
    assert is_reverse_charge(seller, "DE136695976")
    assert not is_reverse_charge("GR094259216", "EL094259216")
    assert not any(is_reverse_charge(seller, buyer) for buyer in ("FR44732829320", "EU372000041", "CHE123456788", ""))


@pytest.mark.parametrize(
    ("text", "country", "printed"),
    [
        ("fr 40 303 265 045", "FR", "FR40303265045"),
        ("40303265045", "FR", "FR40303265045"),
        ("40303265045", "MC", "FR40303265045"),
        ("094259216", "GR", "EL094259216"),
        ("DE136695976", "FR", "DE136695976"),
        ("GB 980 7806 84", "GB", "GB980780684"),
        ("980780684", "IM", "GB980780684"),
        ("XI980780684", "GB", "XI980780684"),
        ("995 525 828", "NO", "NO995525828MVA"),
        ("NO 995 525 828 MVA", "NO", "NO995525828MVA"),
        ("che-107.787.577 iva", "CH", "CHE-107.787.577 IVA"),
        ("CHE107787577", "LI", "CHE-107.787.577"),
        ("12-3456789", "US", "123456789"),
        ("ESA010101AB1", "MX", "ESA010101AB1"),
        ("FR40303265046", "FR", ""),
        ("40303265045", "DE", ""),
        ("GB980780685", "GB", ""),
        ("NO995525829MVA", "NO", ""),
        ("CHE-107.787.578", "CH", ""),
        ("EU372000041", "FR", ""),
        ("none", "US", ""),
        ("12-3456789", "", ""),
        ("", "FR", ""),
    ],
)
def test_the_number_of_a_buyer_is_proved_as_far_as_its_country_is_known(text: str, country: str, printed: str) -> None:
    assert buyer_vat_number(text, country) == printed
    if printed:
        assert buyer_vat_number(printed, country) == printed
