"""KYC documents of a partner, its KYC level, and the page for identity verification."""

from rest_compat.shapes.keys import FieldKey, same
from rest_compat.shapes.shape import Nested, ResourceShape
from schema.kyc.document import KycDocument
from schema.kyc.identity import IdentityVerification
from schema.kyc.kyc import Kyc, KycCheck

PARTNER_UUID = "dd783a87-8351-4578-ad2a-16c698e86acb"

KYC_DOCUMENT = ResourceShape(
    "KycDocument",
    KycDocument,
    {
        **same("id"),
        "partner": "partner.id",
        "partner_uuid": "partner.uuid",
        **same("comment", "document_type"),
    },
    example={"id": 12, "partner": 41, "partner_uuid": PARTNER_UUID, "comment": "Passport of the director"},
)
KYC_CHECK = ResourceShape(
    "KycCheck",
    KycCheck,
    {
        **same("id"),
        "partner": "partner_id",
        **same("partner_uuid", "refused_reason", "document_type"),
        "status": FieldKey("status", description="Status of the document; empty if it is missing."),
    },
    example={
        "id": 12,
        "partner": 41,
        "partner_uuid": PARTNER_UUID,
        "refused_reason": "DOCUMENT_UNREADABLE",
        "status": "REFUSED",
    },
)
KYC_LEVEL = ResourceShape(
    "KycLevel",
    Kyc,
    {
        **same("status", "detail"),
        "partner": "partner_id",
        **same("partner_uuid"),
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
IDENTITY_VERIFICATION = ResourceShape(
    "IdentityVerification",
    IdentityVerification,
    same("redirect_url"),
    example={"redirect_url": "https://provider.example/identity/8f0a3d2f"},
)
