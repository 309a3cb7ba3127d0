"""Every setting of the program, read once at start from the environment."""

import ipaddress
import pathlib
import secrets
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from store.mail.server import MailServer, read_sender, read_server

DEVELOPMENT_SECRET = "development-only-" + "0" * 32


class Environment(StrEnum):
    """Where the program runs. Production refuses whatever is only meant for trying out."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class ProviderName(StrEnum):
    """Who takes the money."""

    SANDBOX = "sandbox"
    MANGOPAY = "mangopay"


class Settings(BaseSettings):
    """Settings. Each is read from `COFFRET_<NAME>`; those that hosting platforms set by a bare name, from that too."""

    model_config = SettingsConfigDict(
        env_prefix="COFFRET_", env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    environment: Environment = Field(default=Environment.DEVELOPMENT, validation_alias="ENVIRONMENT")
    host: str = "127.0.0.1"
    port: int = Field(default=8000, validation_alias="PORT", ge=0, le=65535)
    data_dir: pathlib.Path = pathlib.Path(".coffret")
    base_url: str = Field(
        default="", description="The address clients reach this service at; by default http://127.0.0.1:PORT."
    )
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        default_factory=list,
        description="Hosts of the API besides base_url's; partners' site domains are added by themselves.",
    )
    trusted_proxies: Annotated[list[str], NoDecode] = Field(
        default_factory=list, description="Addresses or networks whose X-Forwarded-* headers are believed."
    )
    secret: SecretStr = SecretStr(DEVELOPMENT_SECRET)
    database_url: str = Field(
        default="", validation_alias="DATABASE_URL", description="postgresql://…; empty: embedded PostgreSQL."
    )
    redis_url: str = Field(
        default="",
        validation_alias="REDIS_URL",
        description="redis://…, rediss://… or redis+cluster://…; empty: in process.",
    )
    workers: int = Field(default=1, ge=1)
    demo: bool = Field(default=True, description="Fill an empty database with demo data; development only.")
    funnel_scheme: str = Field(default="https", validation_alias="FUNNEL_SCHEME", pattern="^https?$")
    funnel_domain: str = Field(default="localhost", validation_alias="FUNNEL_DOMAIN")
    service_name: str = Field(default="coffret", validation_alias="SERVICE_NAME", pattern="^[a-z][a-z0-9_]*$")
    provider: ProviderName = ProviderName.SANDBOX
    mangopay_base_url: str = "https://api.mangopay.com"
    mangopay_client_id: str = ""
    mangopay_api_key: SecretStr = SecretStr("")
    hook_secret: SecretStr = Field(
        default=SecretStr(""),
        description="The path segment of the provider's notifications; by default made from secret.",
    )
    smtp_url: SecretStr = Field(
        default=SecretStr(""),
        description="Where mail goes: smtp://host:25 or smtps://user:password@host:465; empty: to a folder in development.",
    )
    smtp_ca_file: pathlib.Path | None = Field(
        default=None, description="Certificates to believe of the mail server, besides the system's own."
    )
    mail_from: str = Field(default="mail@coffret.test", description="The address that mail comes from.")
    mail_days: int = Field(default=90, ge=1, description="How long messages are kept, with the addresses they went to.")
    audit_days: int | None = Field(
        default=None, ge=30, description="How long the audit log is kept; by default for ever."
    )
    graphiql: bool | None = Field(default=None, description="Serve GraphiQL; by default in development only.")
    introspection: bool | None = Field(
        default=None, description="Answer introspection; by default in development only."
    )
    log_level: str = "INFO"
    log_json: bool | None = Field(default=None, description="Logs as JSON; by default in production only.")

    @field_validator("allowed_hosts", "trusted_proxies", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        """Lists are written with commas."""
        return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value

    @field_validator("mail_from")
    @classmethod
    def sender(cls, value: str) -> str:
        """The sender is an address, with a name or without."""
        read_sender(value)
        return value

    @field_validator("smtp_ca_file")
    @classmethod
    def certificates(cls, value: pathlib.Path | None) -> pathlib.Path | None:
        """The file of certificates is there."""
        if value is not None and not value.is_file():
            raise ValueError(f"{value} is no file.")
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def networks(cls, value: list[str]) -> list[str]:
        """Each proxy is an address or a network."""
        for entry in value:
            ipaddress.ip_network(entry, strict=False)
        return value

    @model_validator(mode="after")
    def coherent(self) -> Self:
        """Refuse what can't work together, and say how to put it right."""
        if self.environment is Environment.PRODUCTION:
            if self.secret.get_secret_value() == DEVELOPMENT_SECRET:
                raise ValueError(
                    f"Production needs a secret of its own: set COFFRET_SECRET, for example to {secrets.token_hex(32)}"
                )
            if len(self.secret.get_secret_value()) < 32:
                raise ValueError("COFFRET_SECRET is too short: use at least 32 characters.")
            if self.provider is ProviderName.SANDBOX:
                raise ValueError(
                    "Production can't take money through the sandbox: set COFFRET_PROVIDER=mangopay and its keys."
                )
            if "demo" in self.model_fields_set and self.demo:
                raise ValueError("Demo data has public passwords and is refused in production: unset COFFRET_DEMO.")
            self.demo = False
        if self.workers > 1 and not self.redis_url:
            raise ValueError("More than one worker needs a shared cart store: set REDIS_URL, or start with one worker.")
        if self.provider is ProviderName.MANGOPAY and not (
            self.mangopay_client_id and self.mangopay_api_key.get_secret_value()
        ):
            raise ValueError("Mangopay needs COFFRET_MANGOPAY_CLIENT_ID and COFFRET_MANGOPAY_API_KEY.")
        if self.mail_server is not None and "mail_from" not in self.model_fields_set:
            raise ValueError("Mail needs a sender: set COFFRET_MAIL_FROM to an address that the mail server sends for.")
        return self

    @property
    def development(self) -> bool:
        """Whether this is a development installation."""
        return self.environment is Environment.DEVELOPMENT

    @property
    def mail_server(self) -> MailServer | None:
        """Where mail is handed over; None where none was named."""
        url = self.smtp_url.get_secret_value()
        return read_server(url) if url else None

    @property
    def public_url(self) -> str:
        """Where clients reach the service, without a trailing slash."""
        return self.base_url.rstrip("/") or f"http://127.0.0.1:{self.port}"
