"""VAT numbers: which are proved, and how they are written."""

import pytest

from schema.validation.vat import is_reverse_charge, vat_number


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
