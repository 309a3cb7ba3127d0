"""The caller of a request: role, permissions and tenant."""

from dataclasses import dataclass
from enum import StrEnum

from schema.core.permission import AccessRule, Permission
from schema.partner.partner import PartnerStatus


class Role(StrEnum):
    """How much of the data a caller sees."""

    CUSTOMER = "customer"
    REPRESENTATIVE = "representative"
    PARTNER = "partner"
    MARKETPLACE = "marketplace"
    MASTER = "master"


WITHOUT_TOKEN = {AccessRule.CUSTOMER: Role.CUSTOMER, AccessRule.REPRESENTATIVE: Role.REPRESENTATIVE}
"""Roles without a token. Each may run only the operations of its own access rule."""


class Transport(StrEnum):
    """The interface that a request uses."""

    GRAPHQL = "graphql"
    REST = "rest"
    CHECKOUT = "checkout"
    ONBOARDING = "onboarding"
    VENUE = "venue"
    """The page where staff redeem vouchers and gift cards."""
    BACK_OFFICE = "back_office"
    INTERNAL = "internal"
    """Jobs and the command line."""


@dataclass(frozen=True)
class Caller:
    """The caller: a user with a token, a customer in the checkout of a partner, or a partner's representative."""

    role: Role
    permissions: frozenset[Permission]
    user_id: int | None = None
    token_id: int | None = None
    partner_id: int | None = None
    marketplace_id: int | None = None
    site_domain: str = ""
    """Host of the funnel of the caller's partner."""
    return_hosts: tuple[str, ...] = ()
    """Hosts that customers of the caller's partner may be redirected to; empty: any."""
    partner_status: PartnerStatus | None = None
    """Status of the caller's partner."""
    time_zone: str = "UTC"
    """IANA time zone of the caller's marketplace."""
    is_preview: bool = False
    """True for staff who look at pages of a shop as its customers will see them, also before it may sell."""

    is_read_only: bool = False
    """True for a user who looks as a partner: every change is refused."""

    def may(self, permission: Permission) -> bool:
        """Whether the caller has a permission. The master permission includes all."""
        return permission in self.permissions or Permission.MANAGE_MASTERADMIN in self.permissions

    def sees(self, partner_id: int | None, marketplace_id: int | None) -> bool:
        """Whether the caller sees data of this partner or marketplace, by the same rule as
        `scoping.visible_conditions`.
        """
        match self.role:
            case Role.MASTER:
                return True
            case Role.MARKETPLACE:
                return marketplace_id is not None and marketplace_id == self.marketplace_id
            case _:
                return partner_id is not None and partner_id == self.partner_id

    @classmethod
    def customer(cls, partner_id: int, marketplace_id: int) -> "Caller":
        """A customer in the checkout of a partner."""
        return cls(Role.CUSTOMER, frozenset(), partner_id=partner_id, marketplace_id=marketplace_id)

    @classmethod
    def preview(cls, partner_id: int, marketplace_id: int) -> "Caller":
        """Whoever looks at the pages of a partner's shop before its customers do."""
        return cls(Role.CUSTOMER, frozenset(), partner_id=partner_id, marketplace_id=marketplace_id, is_preview=True)

    @classmethod
    def representative(cls, partner_id: int, marketplace_id: int) -> "Caller":
        """The holder of a valid link to the onboarding page of a partner."""
        return cls(Role.REPRESENTATIVE, frozenset(), partner_id=partner_id, marketplace_id=marketplace_id)
