"""The provider's wire as plain data: what each call must send and must answer.

Written from the provider's published documents, not from our code. The adapter and the sandbox are each tested against it,
so that the two cannot drift together unnoticed. Its limit: nobody has run it against the live provider yet.

Fields are named from the body's root with dots (`DebitedFunds.Amount`). Paths are relative to `/v2.01/{ClientId}`, those of
a `public` call to `/v2.01`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

Json = Mapping[str, object]


@dataclass(frozen=True)
class WireCall:
    """One call.

    `request` is a complete body that is accepted (or the form, or the query of a GET). Without a `required` field it is
    refused. `optional` fields may be sent besides. The answer always has the `answer` fields, not null, and the
    `nullable` ones; `values` lists what a field, of either body, may say.
    """

    name: str
    method: str
    path: str
    request: Json = field(default_factory=dict)
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    answer: tuple[str, ...] = ()
    nullable: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    many: bool = False
    """The answer is a bare array of such objects, in pages."""
    public: bool = False
    form: bool = False


_MONEY = ("DebitedFunds.Currency", "DebitedFunds.Amount", "Fees.Currency", "Fees.Amount")
_STATUS = ("CREATED", "SUCCEEDED", "FAILED")
_MOVEMENT = (
    "Id",
    "CreationDate",
    "AuthorId",
    *_MONEY,
    "CreditedFunds.Currency",
    "CreditedFunds.Amount",
    "Status",
    "Type",
    "Nature",
)
_OPEN = ("ResultCode", "ResultMessage", "ExecutionDate", "Tag")
_PAYIN_VALUES = {"Status": _STATUS, "Type": ("PAYIN",), "Nature": ("REGULAR",)}
_PAYIN = (*_MOVEMENT, "CreditedUserId", "CreditedWalletId", "PaymentType", "ExecutionType")
_REFUND = (*_MOVEMENT, "InitialTransactionId", "InitialTransactionType", "RefundReason.RefundReasonType")
_REFUND_VALUES = {"Status": _STATUS, "Nature": ("REFUND",), "InitialTransactionType": ("PAYIN",)}
_HOOK = ("Id", "EventType", "Url", "Status", "Validity", "CreationDate")
EVENT_TYPES = (
    "PAYIN_NORMAL_CREATED",
    "PAYIN_NORMAL_SUCCEEDED",
    "PAYIN_NORMAL_FAILED",
    "PAYIN_REFUND_SUCCEEDED",
    "PAYIN_REFUND_FAILED",
)
_HOOK_VALUES = {"Status": ("ENABLED", "DISABLED"), "Validity": ("VALID", "INVALID", "UNKNOWN")}

CALLS = (
    WireCall(
        "token",
        "POST",
        "/oauth/token",
        request={"grant_type": "client_credentials"},
        required=("grant_type",),
        answer=("access_token", "token_type", "expires_in"),
        values={"token_type": ("Bearer",)},
        public=True,
        form=True,
    ),
    WireCall(
        "create_natural_user",
        "POST",
        "/sca/users/natural",
        request={
            "FirstName": "Ana",
            "LastName": "Puig",
            "Email": "ana@example.com",
            "UserCategory": "PAYER",
            "TermsAndConditionsAccepted": False,
            "Tag": "buyer-1",
        },
        required=("FirstName", "LastName", "Email", "UserCategory"),
        optional=("TermsAndConditionsAccepted", "Tag"),
        answer=("Id", "CreationDate", "PersonType", "UserCategory", "KYCLevel", "UserStatus"),
        nullable=("Tag",),
        values={
            "UserCategory": ("PAYER", "OWNER"),
            "PersonType": ("NATURAL",),
            "KYCLevel": ("LIGHT", "REGULAR"),
            "UserStatus": ("PENDING_USER_ACTION", "ACTIVE", "CLOSED"),
        },
    ),
    WireCall(
        "create_wallet",
        "POST",
        "/wallets",
        request={"Owners": ["user_m_1"], "Description": "Buyer", "Currency": "EUR"},
        required=("Owners", "Description", "Currency"),
        optional=("Tag",),
        answer=("Id", "Owners", "Description", "Currency", "Balance.Currency", "Balance.Amount", "CreationDate"),
        nullable=("Tag",),
        values={"FundsType": ("DEFAULT",)},
    ),
    WireCall(
        "create_web_payin",
        "POST",
        "/payins/card/web",
        request={
            "AuthorId": "user_m_1",
            "CreditedWalletId": "wlt_m_1",
            "DebitedFunds": {"Currency": "EUR", "Amount": 1260},
            "Fees": {"Currency": "EUR", "Amount": 126},
            "ReturnURL": "https://shop.example/back/1",
            "CardType": "CB_VISA_MASTERCARD",
            "Culture": "FR",
            "Tag": "order-1",
        },
        required=("AuthorId", "CreditedWalletId", *_MONEY, "ReturnURL", "CardType", "Culture"),
        optional=("SecureMode", "StatementDescriptor", "Billing", "Shipping", "FlowDescriptor", "Tag"),
        answer=(*_PAYIN, "RedirectURL", "ReturnURL"),
        nullable=_OPEN,
        values={
            **_PAYIN_VALUES,
            "CardType": ("CB_VISA_MASTERCARD", "AMEX", "MAESTRO", "BCMC"),
            "SecureMode": ("DEFAULT", "FORCE", "NO_CHOICE"),
            "PaymentType": ("CARD",),
            "ExecutionType": ("WEB",),
        },
    ),
    WireCall("get_payin", "GET", "/payins/{id}", answer=_PAYIN, nullable=_OPEN, values=_PAYIN_VALUES),
    WireCall(
        "refund_payin",
        "POST",
        "/payins/{id}/refunds",
        request={
            "AuthorId": "user_m_1",
            "DebitedFunds": {"Currency": "EUR", "Amount": 900},
            "Fees": {"Currency": "EUR", "Amount": -100},
            "Tag": "refund-1",
        },
        required=("AuthorId",),
        optional=(*_MONEY, "Tag"),
        answer=_REFUND,
        nullable=_OPEN,
        values=_REFUND_VALUES,
    ),
    WireCall("get_refund", "GET", "/refunds/{id}", answer=_REFUND, nullable=_OPEN, values=_REFUND_VALUES),
    WireCall(
        "list_payin_refunds",
        "GET",
        "/payins/{id}/refunds",
        request={"page": 1, "per_page": 100, "Sort": "CreationDate:ASC"},
        optional=("page", "per_page", "Sort", "BeforeDate", "AfterDate", "Status", "ResultCode"),
        answer=_REFUND,
        nullable=_OPEN,
        values=_REFUND_VALUES,
        many=True,
    ),
    WireCall(
        "get_response",
        "GET",
        "/responses/{key}",
        answer=("StatusCode", "ContentLength", "ContentType", "Date", "RequestURL", "Resource"),
    ),
    WireCall(
        "create_hook",
        "POST",
        "/hooks",
        request={"EventType": "PAYIN_NORMAL_SUCCEEDED", "Url": "https://shop.example/hooks/s3cret"},
        required=("EventType", "Url"),
        optional=("Tag", "Email"),
        answer=_HOOK,
        values=_HOOK_VALUES,
    ),
    WireCall(
        "list_hooks",
        "GET",
        "/hooks",
        request={"page": 1, "per_page": 100},
        optional=("page", "per_page", "Sort"),
        answer=_HOOK,
        values=_HOOK_VALUES,
        many=True,
    ),
    WireCall(
        "update_hook",
        "PUT",
        "/hooks/{id}",
        request={"Url": "https://shop.example/hooks/s3cret", "Status": "ENABLED"},
        optional=("Url", "Status", "Tag"),
        answer=_HOOK,
        values=_HOOK_VALUES,
    ),
    WireCall(
        "list_events",
        "GET",
        "/events",
        request={"EventType": "PAYIN_NORMAL_SUCCEEDED", "Sort": "Date:ASC", "page": 1, "per_page": 100},
        required=("EventType",),
        optional=("page", "per_page", "Sort", "BeforeDate", "AfterDate"),
        answer=("ResourceId", "EventType", "Date"),
        many=True,
    ),
)
"""Every call that the adapter makes."""

BY_NAME = {call.name: call for call in CALLS}

NOTIFICATION = ("EventType", "RessourceId", "Date")
"""The query of a hook's GET. The misspelt name is the provider's; the list of events writes `ResourceId`."""

ERROR_FIELDS = ("Message", "Type", "Id", "Date")
"""In every refusal's body; `errors` (or `Errors`) is an object of field names and texts, or null. `Date` may be a float."""

ERROR_TYPES = {
    "param_error": 400,
    "correlationid_not_found": 400,
    "forbidden_ressource": 403,
    "ressource_not_found": 404,
    "idempotent_creation_conflict": 409,
    "rate_limit": 429,
}
"""The refusals' `Type` and the status each comes with. The spelling is the provider's."""

RATE_LIMIT_HEADERS = ("x-ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset")
"""On answers: values for 15 minutes, 30 minutes, an hour and a day, with commas."""

PAGE_HEADERS = ("X-Number-Of-Pages", "X-Number-Of-Items", "Link")
"""On lists."""

IDEMPOTENCY_KEY = "[A-Za-z0-9-]{16,36}"
"""What an `Idempotency-Key` may be, on every POST but the token's."""
