"""Documents that identify a partner, how far it is identified, and the page on which an identity is proven."""

from rest_compat.shapes.keys import Key, Nested
from rest_compat.shapes.shape import Shape
from schema.kyc.document import KycDocument
from schema.kyc.kyc import IdentityVerification, Kyc, KycCheck

PARTNER_UUID = "dd783a87-8351-4578-ad2a-16c698e86acb"

KYC_DOCUMENT = Shape(
    "KycDocument",
    KycDocument,
    {
        "id": "id",
        "partner": "partner.id",
        "partner_uuid": "partner.uuid",
        "comment": "comment",
        "document_type": "document_type",
    },
    example={"id": 12, "partner": 41, "partner_uuid": PARTNER_UUID, "comment": "Passport of the director"},
)
KYC_CHECK = Shape(
    "KycCheck",
    KycCheck,
    {
        "id": "id",
        "partner": "partner_id",
        "partner_uuid": "partner_uuid",
        "refused_reason": "refused_reason",
        "document_type": "document_type",
        "status": Key("status", description="Where it stands; empty: it is missing."),
    },
    example={
        "id": 12,
        "partner": 41,
        "partner_uuid": PARTNER_UUID,
        "refused_reason": "DOCUMENT_UNREADABLE",
        "status": "REFUSED",
    },
)
KYC_LEVEL = Shape(
    "KycLevel",
    Kyc,
    {
        "status": "status",
        "detail": "detail",
        "partner": "partner_id",
        "partner_uuid": "partner_uuid",
        "errors": Nested("errors", KYC_CHECK),
    },
    example={
        "status": "error",
        "detail": "The payment provider has not validated this partner yet. Refused: IDENTITY_PROOF (DOCUMENT_UNREADABLE). "
        "Hand in what is named, or open an identity verification.",
        "partner": 41,
        "partner_uuid": PARTNER_UUID,
    },
)
IDENTITY_VERIFICATION = Shape(
    "IdentityVerification",
    IdentityVerification,
    {"redirect_url": "redirect_url"},
    example={"redirect_url": "https://provider.example/identity/8f0a3d2f"},
)
