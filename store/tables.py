"""All tables, and the table of each published resource."""

from typing import Any

from sqlmodel import SQLModel

from schema.core.resource import published_type
from store.account.impersonations import ImpersonationRow
from store.account.links import AccountLinkRow
from store.account.passkeys import PasskeyRow
from store.account.second_factor import RecoveryCodeRow, TotpRow
from store.account.users import TokenRow, UserRow
from store.activation.activations import ActivationRow
from store.audit.api_requests import ApiRequestRow
from store.audit.entries import AuditEntryRow
from store.bank_account import BankAccountRow
from store.catalogue.catalogue import (
    EnvironmentRow,
    PriceRangeRow,
    PrototypeImageRow,
    UniverseRow,
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.coupon.coupons import CouponRow
from store.customer import CustomerRow
from store.database.shared_clock import DevelopmentClockRow
from store.delivery import DeliveryModeRow, DeliveryRateRow
from store.event.events import EventRow
from store.export.exports import ExportRow
from store.export.saved_filters import SavedFilterRow
from store.gift_card.designs import GiftCardDesignRow
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardMovementRow, GiftCardRow
from store.idempotency import StoredResponseRow
from store.invoice.invoices import InvoicedFeeRow, InvoiceLineRow, InvoiceRow, InvoiceSeriesRow
from store.job.cursors import CursorRow
from store.job.rows import JobRow
from store.kyc import IdentityCheckRow, KycDocumentRow, PartnerKycRow
from store.ledger.payables import PayableItemRow
from store.ledger.rows import (
    LedgerAccountRow,
    LedgerBookRow,
    LedgerEntryRow,
    LedgerFindingRow,
    LedgerJournalRow,
    LedgerSealRow,
    LedgerShiftRow,
    LedgerSnapshotRow,
)
from store.ledger.wallet_openings import WalletOpeningRow
from store.ledger.wallets import WalletRow
from store.legal import LegalDocumentRow
from store.mail.rows import MailRow
from store.media.media import MediaRow
from store.media.pictures import PictureRow
from store.network.boxes import BoxImageRow, BoxPartnerRow, BoxRow, OfferRow
from store.network.gift_cards import NetworkGiftCardRow, NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.order.orders import (
    OrderDiscountRow,
    OrderProductRow,
    OrderRow,
    OrderVariantRow,
    OrderVatRow,
)
from store.order.refund_requests import RefundRequestLineRow, RefundRequestRow
from store.order.refunds import RefundLineRow
from store.order.return_signatures import ReturnSecretRow
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.attempts import AttemptRow
from store.payment.disputes import DisputeDocumentRow, DisputeRow
from store.payment.fees import FeeRuleRow
from store.payment.payers import PayerRow
from store.payment.payments import PaymentRow, PaymentSourceRow, PaymentTransactionRow, RefundRow
from store.payment.requests import PaymentRequestRow
from store.payment.transfers import TransferRow
from store.payout.adjustments import PayoutAdjustmentRow
from store.payout.documents import PayoutDocumentRow
from store.payout.requests import FormerPayoutItemRow, PayoutRequestRow, PayoutScheduleRow
from store.product.products import AttributeValueRow, ProductAttributeRow, ProductRow, ProductVariantRow
from store.reconciliation.rows import ProviderMovementRow, ReconciliationFindingRow, ReconciliationRunRow
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRentalRow, VoucherRow
from store.webhook.rows import WebhookAttemptRow, WebhookDeliveryRow, WebhookEndpointRow

ROW_CLASSES: tuple[type[SQLModel], ...] = (
    AccountLinkRow,
    ActivationRow,
    ApiRequestRow,
    AttemptRow,
    AttributeValueRow,
    AuditEntryRow,
    BankAccountRow,
    BoxImageRow,
    BoxPartnerRow,
    BoxRow,
    CouponRow,
    CursorRow,
    CustomerRow,
    DeliveryModeRow,
    DeliveryRateRow,
    DevelopmentClockRow,
    DisputeDocumentRow,
    DisputeRow,
    EnvironmentRow,
    EventRow,
    ExportRow,
    FeeRuleRow,
    FormerPayoutItemRow,
    GiftCardDesignRow,
    GiftCardHoldRow,
    GiftCardMovementRow,
    GiftCardRow,
    IdentityCheckRow,
    ImpersonationRow,
    InvoiceLineRow,
    InvoiceRow,
    InvoicedFeeRow,
    InvoiceSeriesRow,
    JobRow,
    KycDocumentRow,
    LedgerAccountRow,
    LedgerBookRow,
    LedgerEntryRow,
    LedgerFindingRow,
    LedgerJournalRow,
    LegalDocumentRow,
    LedgerSealRow,
    LedgerShiftRow,
    LedgerSnapshotRow,
    MailRow,
    MarketplaceRow,
    MediaRow,
    NetworkGiftCardRow,
    NetworkGiftCardUsageRow,
    NetworkVoucherRow,
    NetworkVoucherUsageRow,
    OfferRow,
    OrderDiscountRow,
    OrderProductRow,
    OrderRow,
    OrderVariantRow,
    OrderVatRow,
    PartnerKycRow,
    PartnerRow,
    PasskeyRow,
    PayerRow,
    PaymentRequestRow,
    PayableItemRow,
    PaymentRow,
    PaymentSourceRow,
    PaymentTransactionRow,
    PayoutAdjustmentRow,
    PayoutDocumentRow,
    PayoutRequestRow,
    PayoutScheduleRow,
    PictureRow,
    PriceRangeRow,
    ProductAttributeRow,
    ProductRow,
    ProductVariantRow,
    PrototypeImageRow,
    ProviderMovementRow,
    ReconciliationFindingRow,
    ReconciliationRunRow,
    RecoveryCodeRow,
    RefundLineRow,
    RefundRequestLineRow,
    RefundRequestRow,
    RefundRow,
    ReturnSecretRow,
    SavedFilterRow,
    StoredResponseRow,
    TokenRow,
    TotpRow,
    TransferRow,
    UniverseRow,
    UserRow,
    VoucherChosenOptionRow,
    VoucherIncludedOptionRow,
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
    VoucherRentalRow,
    VoucherRow,
    WalletOpeningRow,
    WalletRow,
    WebhookAttemptRow,
    WebhookDeliveryRow,
    WebhookEndpointRow,
)
"""Every table. Migrations compare them with the database, and published resources are read from them."""

metadata = SQLModel.metadata
_rows = {kind: row for row in ROW_CLASSES if (kind := published_type(row)) is not None}


def find_table(kind: Any) -> Any | None:
    """The table class of a published type; None for a type without a table."""
    return _rows.get(kind)


def table_of(kind: Any) -> Any:
    """The table class of a published resource; LookupError if there is none."""
    table = find_table(kind)
    if table is None:
        raise LookupError(f"{kind.__name__} has no table: add its row class to ROW_CLASSES in store/tables.py.")
    return table


def declare_table(row: type[SQLModel]) -> None:
    """Declare the table of a resource that is not one of the program's, such as an example of the tests."""
    kind = published_type(row)
    assert kind is not None, row.__name__
    _rows[kind] = row
