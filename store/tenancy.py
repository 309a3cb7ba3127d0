"""Marketplaces, partners, users and tokens, as rows."""

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Column, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY, VARCHAR
from sqlmodel import Field

from schema.errors import CONSTRAINTS, AlreadyTaken
from schema.tenancy import Marketplace, Partner, Token, User
from schema.values import json_column, moment
from store.clock import now


class MarketplaceRow(Marketplace, table=True):
    """A marketplace."""

    __tablename__ = "marketplace"
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)


class PartnerRow(Partner, table=True):
    """A partner."""

    __tablename__ = "partner"
    __table_args__ = (UniqueConstraint("marketplace_id", "source_id", name="partner_source_id_key"),)
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    marketplace_id: int = Field(foreign_key="marketplace.id", index=True)
    logo_url: str = Field(default="", max_length=300)
    hq_country: str = Field(default="", max_length=2)
    return_hosts: list[str] = json_column("Hosts that a return_url may name; empty: any.", default_factory=list)
    return_with_order_number: bool = Field(default=False)
    provider_user_id: str = Field(default="", max_length=128)
    provider_wallet_id: str = Field(default="", max_length=128)
    last_order_number: int = Field(default=0)
    created_on: Any = moment("When it was made.", default_factory=now)


class UserRow(User, table=True):
    """A user."""

    __tablename__ = "app_user"
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    role: str = Field(max_length=20)
    partner_id: int | None = Field(default=None, foreign_key="partner.id", index=True)
    marketplace_id: int | None = Field(default=None, foreign_key="marketplace.id", index=True)
    password_hash: str = Field(default="", max_length=255)
    permissions: list[str] | None = Field(default=None, sa_column=Column(ARRAY(VARCHAR(60)), nullable=True))
    is_active: bool = Field(default=True)


class TokenRow(Token, table=True):
    """A token; only a digest of its secret is kept."""

    __tablename__ = "token"
    id: int = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="app_user.id", index=True)
    digest: bytes = Field(unique=True)


CONSTRAINTS["partner_site_domain_key"] = lambda: AlreadyTaken("siteDomain", what="site domain")
CONSTRAINTS["partner_source_id_key"] = lambda: AlreadyTaken("sourceId", what="source id")
CONSTRAINTS["app_user_username_key"] = lambda: AlreadyTaken("username", what="user name")
