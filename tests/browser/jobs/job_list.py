"""The jobs of staff that are walked, by role, in the order of the documentation."""

from dataclasses import dataclass
from enum import StrEnum

from coffret.demo.users import MARKETPLACE_USER, MASTER_USER, PARTNER_USERS


class StaffRole(StrEnum):
    """Whose job it is."""

    PARTNER = "Partner"
    MARKETPLACE = "Marketplace"
    PLATFORM = "Platform"

    @property
    def username(self) -> str:
        """The user of the demo data who has this role."""
        return {"Partner": PARTNER_USERS[0], "Marketplace": MARKETPLACE_USER, "Platform": MASTER_USER}[self]


@dataclass(frozen=True)
class StaffJob:
    """A job that begins at the first page of whoever does it."""

    title: str
    role: StaffRole


def jobs_of(role: StaffRole, **titles: str) -> dict[str, StaffJob]:
    """The jobs of a role by their names in addresses."""
    return {slug.replace("_", "-"): StaffJob(title, role) for slug, title in titles.items()}


JOBS = {
    **jobs_of(
        StaffRole.PARTNER,
        find_an_order="Find an order by its buyer",
        hand_an_order_over="Mark an order ready",
        correct_an_address="Correct the address of an order",
        refund_a_line="Refund a part of an order",
        answer_a_request="Approve a buyer's withdrawal",
        show_a_code="Show the code of a voucher",
        issue_a_gift_card="Issue a gift card",
        extend_a_gift_card="Extend a gift card",
        import_gift_cards="Import gift cards from a file",
        cancel_many_gift_cards="Cancel three gift cards at once",
        export_gift_cards="Export the gift cards",
        send_a_payment_link="Send a link to pay",
        create_a_coupon="Create a coupon of ten per cent",
        change_a_price="Change the price of a product",
        add_a_picture="Add a picture to a product",
        add_stock="Enter new stock",
        translate_an_experience="Translate the name of an experience",
        set_up_a_second_factor="Set up a second factor",
    ),
    **jobs_of(
        StaffRole.MARKETPLACE,
        accept_an_offer="Accept an offer for a box",
        validate_a_payout="Validate a payout",
        create_a_partner="Create a partner",
        invite_a_colleague="Invite a colleague",
    ),
    **jobs_of(
        StaffRole.PLATFORM,
        look_as_a_partner="Look at the back office as a partner",
        retry_a_job="Retry a job that has failed",
    ),
}
