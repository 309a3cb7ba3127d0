"""All settings of the program, read once at start from the environment."""

import ipaddress
import pathlib
import re
import secrets
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from store.core.mail_server import MailServer, parse_sender, parse_server
from store.core.rates import rate_of
from store.core.settings.provider import ProviderName, ProviderSettings
from store.core.settings.values import existing_file, split_list

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
DEVELOPMENT_SECRET = "development-only-" + "0" * 32


_ORIGIN = re.compile(r"https?://(\[[0-9a-f:]+\]|[a-z0-9.-]+)(:[0-9]{1,5})?")


def _checked_rate(text: str) -> str:
    rate_of(text)
    return text


RateText = Annotated[str, AfterValidator(_checked_rate)]
"""A rate: `6000/minute`, `20 per hour`, `5 per 10 minutes`; `off` means no limit."""


class DeploymentEnvironment(StrEnum):
    """Where the program runs. Production refuses everything that is meant for development only."""

    DEVELOPMENT = "development"
    PRODUCTION = "production"


class Settings(ProviderSettings):
    """Each setting is read from `COFFRET_<NAME>`.

    Those that hosting platforms set under a bare name are read from that too.
    """

    environment: DeploymentEnvironment = Field(
        default=DeploymentEnvironment.DEVELOPMENT, validation_alias="ENVIRONMENT"
    )
    host: str = "127.0.0.1"
    port: int = Field(default=8000, validation_alias="PORT", ge=0, le=65535)
    data_dir: pathlib.Path = pathlib.Path(".coffret")
    base_url: str = Field(
        default="", description="The address at which clients reach the API; by default http://127.0.0.1:PORT."
    )
    allowed_hosts: Annotated[list[str], NoDecode] = Field(
        default_factory=list,
        description="Further hosts of the API besides base_url's; partners' own domains are allowed anyway.",
    )
    trusted_proxies: Annotated[list[str], NoDecode] = Field(
        default_factory=list, description="Addresses or networks whose X-Forwarded-* headers are trusted."
    )
    hsts_seconds: int = Field(
        default=0,
        ge=0,
        description="max-age of the Strict-Transport-Security header over https, in seconds; 0 sends no header.",
    )
    secret: SecretStr = SecretStr(DEVELOPMENT_SECRET)
    database_url: str = Field(
        default="", validation_alias="DATABASE_URL", description="postgresql://…; empty: embedded PostgreSQL."
    )
    redis_url: str = Field(
        default="",
        validation_alias="REDIS_URL",
        description="redis://…, rediss://… or redis+cluster://…; empty: carts are stored in the process.",
    )
    carts_in_memory: int = Field(
        default=100_000, ge=1, description="Maximum number of carts stored in the process, without REDIS_URL."
    )
    carts_in_memory_mb: int = Field(
        default=256,
        ge=1,
        description="Maximum memory in MiB for these carts and the stored responses of their idempotency keys.",
    )
    files_url: str = Field(
        default="",
        validation_alias="FILES_URL",
        pattern=r"^((file|s3|gs|az)://[^@?#\s]+)?$",
        description="Where files are stored: s3://bucket/prefix, gs://…, az://…; empty: in data_dir/files.",
    )
    files_endpoint: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="The endpoint of an S3-compatible service other than Amazon's.",
    )
    files_region: str = Field(default="", description="The region of the bucket.")
    files_access_key_id: SecretStr = Field(default=SecretStr(""), description="The access key for S3.")
    files_secret_access_key: SecretStr = Field(default=SecretStr(""), description="The secret of this access key.")
    workers: int = Field(default=1, ge=1)
    connections: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of client connections of a process; by default from its limit of open files.",
    )
    header_seconds: float = Field(default=10, gt=0, description="Time limit for the headers of a request.")
    progress_seconds: float = Field(
        default=30,
        gt=0,
        description="In each such period at least 4 KiB of a request body or an answer must be transferred.",
    )
    idle_seconds: float = Field(default=15, gt=0, description="How long a connection may wait for its next request.")
    stop_seconds: float = Field(
        default=10, ge=0, description="How long running requests may take after the stop signal."
    )
    worker_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="The port on which `coffret worker` answers /healthz, /readyz and /metrics; by default none.",
    )
    demo: bool = Field(default=True, description="Fill an empty database with demo data; development only.")
    funnel_scheme: str = Field(default="https", validation_alias="FUNNEL_SCHEME", pattern="^https?$")
    funnel_domain: str = Field(default="localhost", validation_alias="FUNNEL_DOMAIN")
    service_name: str = Field(default="coffret", validation_alias="SERVICE_NAME", pattern="^[a-z][a-z0-9_]*$")
    wallet_dir: pathlib.Path | None = Field(
        default=None,
        description="The folder of the keys that sign passes for Apple Wallet and Google Wallet; by default no passes.",
    )
    hook_secret: SecretStr = Field(
        default=SecretStr(""),
        description="The path segment of the provider's notifications; by default derived from secret.",
    )
    smtp_url: SecretStr = Field(
        default=SecretStr(""),
        description="smtp://host:25 or smtps://user:password@host:465; empty: a folder in development.",
    )
    smtp_ca_file: pathlib.Path | None = Field(
        default=None, description="A file of certificates to trust for the mail server, in addition to the system's."
    )
    mail_from: str = Field(default="mail@coffret.test", description="The sender of all mail.")
    mail_days: int = Field(default=90, ge=1, description="How many days messages and their addresses are stored.")
    event_days: int = Field(
        default=90, ge=7, description="How many days events and the delivery log of their webhooks are stored."
    )
    webhook_networks_allowed: Annotated[list[str], NoDecode] = Field(
        default_factory=list,
        description="Private networks that webhooks may be sent to, such as 10.1.0.0/16; in development 127.0.0.0/8.",
    )
    webhook_secret_hours: int = Field(
        default=24,
        ge=0,
        description="How many hours after a rotation webhooks are also signed with the previous secret.",
    )
    failed_job_days: int = Field(default=90, ge=1, description="How many days permanently failed jobs are stored.")
    job_log_days: int = Field(default=7, ge=1, description="How many days the queue's own log is stored.")
    audit_days: int | None = Field(
        default=None, ge=30, description="How many days the audit log is stored; by default for ever."
    )
    api_log_days: int = Field(
        default=14,
        ge=1,
        le=90,
        description="How many days refused and failed requests of programs are stored, 90 at most.",
    )
    personal_data_days: int | None = Field(
        default=None, ge=90, description="How many days orders keep the data of their people; by default for ever."
    )
    checkout_days: int = Field(default=30, ge=2, description="How many days checkouts keep them that never were paid.")
    graphiql: bool | None = Field(default=None, description="Serve GraphiQL; by default in development only.")
    introspection: bool | None = Field(
        default=None, description="Answer introspection of the GraphQL schema; by default in development only."
    )
    graphql_depth: int = Field(default=15, ge=1, description="Maximum depth of a GraphQL document.")
    graphql_aliases: int = Field(default=100, ge=0, description="Maximum number of aliases.")
    graphql_tokens: int = Field(default=2_000, ge=1, description="Maximum number of tokens.")
    graphql_cost: int = Field(default=10_000, ge=1, description="Maximum cost of an operation.")
    graphql_documents: pathlib.Path | None = Field(
        default=None, description="A file of trusted documents, which requests may reference by id."
    )
    graphql_trusted_only: bool = Field(default=False, description="Answer trusted documents only.")
    metrics_token: SecretStr = Field(
        default=SecretStr(""),
        description="The bearer token of /metrics; without it production answers requests from the same machine only.",
    )
    rate_limit: RateText = Field(default="6000/minute", description="API requests of one token.")
    rate_limit_anonymous: RateText = Field(
        default="600/minute", description="API requests without a token, from one address."
    )
    rate_limit_forms: RateText = Field(
        default="300/minute", description="Form submissions in the checkout, from one address."
    )
    rate_limit_pages: RateText = Field(
        default="1200/minute",
        description="Page views of the checkout, the venue page and the onboarding page, and passes for Apple Wallet, from one "
        "address.",
    )
    guesses_per_address: RateText = Field(
        default="20/hour",
        description="Look-ups of codes and e-mail addresses without a match, by customers at one address.",
    )
    guesses_per_user: RateText = Field(
        default="300/hour", description="The same for one API user, and for all API users at one address."
    )
    guesses_per_shop: RateText = Field(
        default="300/hour",
        description="The same in one shop's checkout; beyond that each address keeps a tenth of its own limit.",
    )
    guesses_in_all: RateText = Field(
        default="3000/hour",
        description="The same in total; beyond that each address and user keeps a tenth of its own limit.",
    )
    cors_origins: Annotated[list[str], NoDecode] = Field(
        default_factory=list,
        description="Origins whose pages may call the API from a browser, or * for any; by default none.",
    )
    log_level: str = "INFO"
    log_json: bool | None = Field(default=None, description="Write logs as JSON; by default in production only.")

    @field_validator("allowed_hosts", "cors_origins", "trusted_proxies", "webhook_networks_allowed", mode="before")
    @classmethod
    def split(cls, value: object) -> object:
        return split_list(value)

    @field_validator("mail_from")
    @classmethod
    def sender(cls, value: str) -> str:
        parse_sender(value)
        return value

    @field_validator("graphql_documents", "smtp_ca_file")
    @classmethod
    def check_file_exists(cls, value: pathlib.Path | None) -> pathlib.Path | None:
        return existing_file(value)

    @field_validator("wallet_dir")
    @classmethod
    def check_folder_exists(cls, value: pathlib.Path | None) -> pathlib.Path | None:
        """The folder must exist."""
        if value is not None and not value.is_dir():
            raise ValueError(f"{value} is no folder.")
        return value

    @field_validator("trusted_proxies", "webhook_networks_allowed")
    @classmethod
    def networks(cls, value: list[str]) -> list[str]:
        for entry in value:
            ipaddress.ip_network(entry, strict=False)
        return value

    @field_validator("cors_origins")
    @classmethod
    def origins(cls, value: list[str]) -> list[str]:
        """Each origin is written as browsers send it: scheme, host, and the port unless it is the default."""
        if value != ["*"] and not all(_ORIGIN.fullmatch(origin) for origin in value):
            raise ValueError("Write origins such as https://shop.example, with commas between, or * alone.")
        return value

    @model_validator(mode="after")
    def fit_for_production(self) -> Self:
        """Refuse in production everything that is meant for development only."""
        if self.environment is not DeploymentEnvironment.PRODUCTION:
            return self
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
        if not self.mangopay_base_url.startswith("https://"):
            raise ValueError("Mangopay is called over https only: correct COFFRET_MANGOPAY_BASE_URL.")
        if "demo" in self.model_fields_set and self.demo:
            raise ValueError("Demo data has public passwords and is refused in production: unset COFFRET_DEMO.")
        self.demo = False
        return self

    @model_validator(mode="after")
    def coherent(self) -> Self:
        """Refuse settings that contradict each other, and say how to correct them."""
        if self.workers > 1 and not self.redis_url:
            raise ValueError("More than one worker needs a shared cart store: set REDIS_URL, or start with one worker.")
        if self.graphql_trusted_only and self.graphql_documents is None:
            raise ValueError("Trusted documents come from a file: set COFFRET_GRAPHQL_DOCUMENTS.")
        if self.personal_data_days is not None and self.personal_data_days < max(self.event_days, self.mail_days):
            raise ValueError("COFFRET_EVENT_DAYS and COFFRET_MAIL_DAYS must not exceed COFFRET_PERSONAL_DATA_DAYS.")
        if self.mail_server is not None and "mail_from" not in self.model_fields_set:
            raise ValueError("Mail needs a sender: set COFFRET_MAIL_FROM to an address that the mail server sends for.")
        return self

    @property
    def development(self) -> bool:
        return self.environment is DeploymentEnvironment.DEVELOPMENT

    @property
    def wallet_folder(self) -> pathlib.Path | None:
        """The folder of the keys of passes; None if there are none. In development `coffret serve` fills one."""
        test_keys = self.data_dir / "wallet"
        return self.wallet_dir or (test_keys if self.development and test_keys.is_dir() else None)

    @property
    def mail_server(self) -> MailServer | None:
        """The parsed `smtp_url`; None if it is empty."""
        url = self.smtp_url.get_secret_value()
        return parse_server(url) if url else None

    @property
    def webhook_networks(self) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        return [ipaddress.ip_network(network, strict=False) for network in self.webhook_networks_allowed]

    @property
    def own_hosts(self) -> frozenset[str]:
        """The hosts of the API as `Host` headers name them, with and without the port."""
        own = self.public_url.partition("://")[2].lower()
        return frozenset({own, own.partition(":")[0], *(host.lower() for host in self.allowed_hosts)})

    def is_own_host(self, host: str) -> bool:
        """Whether a `Host` header names the service itself. In development loopback addresses do too."""
        host = host.lower()
        names = self.own_hosts | (LOOPBACK if self.development else frozenset())
        return host in names or re.sub(r":\d+$", "", host) in names

    @property
    def service_title(self) -> str:
        """The name of the service as people read it."""
        return self.service_name.replace("_", " ").title()

    @property
    def installation_name(self) -> str:
        """The name by which staff know the installation: that of the sender of its mail, else that of the service."""
        return (parse_sender(self.mail_from)[0] if self.mail_from else "") or self.service_title

    @property
    def public_url(self) -> str:
        """The address at which clients reach the service, without a trailing slash."""
        return self.base_url.rstrip("/") or f"http://127.0.0.1:{self.port}"
