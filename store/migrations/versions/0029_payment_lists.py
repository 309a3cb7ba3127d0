"""Payments are listed by what was refunded, by customer and by wallet; refunds and transfers are listed too."""

import sqlalchemy as sa
from alembic import op

revision = '0029'
down_revision = '0028'
branch_labels = None
depends_on = None

REFUND_STATUS = """CASE WHEN refunded_amount = 0 THEN 'none' WHEN refunded_amount < payment_amount THEN 'partial'
    ELSE 'full' END"""
TEXTS = {"customer_first_name": "f", "customer_last_name": "l", "customer_email": "e"}
INDEXES = {
    "fee_rule": {"fee_rule_id_list_idx": ["partner_id", "id"]},
    "payment": {
        "payment_smallest_idx": ["payment_amount", "id"],
        "payment_refund_status_list_idx": ["partner_id", "refund_status", "created_on", "id"],
        "payment_refund_status_idx": ["refund_status", "created_on", "id"],
    },
    "refund": {
        "refund_created_on_list_idx": ["partner_id", "created_on", "id"],
        "refund_newest_idx": ["created_on", "id"],
    },
    "transfer": {
        "transfer_created_on_list_idx": ["partner_id", "created_on", "id"],
        "transfer_transfer_amount_list_idx": ["partner_id", "transfer_amount", "id"],
        "transfer_status_list_idx": ["partner_id", "status", "id"],
        "transfer_of_marketplace_idx": ["marketplace_id", "created_on", "id"],
        "transfer_newest_idx": ["created_on", "id"],
    },
}
FIRST_WALLETS = """
    UPDATE payment p SET extra_wallet_id = s.wallet_id
    FROM (SELECT DISTINCT ON (payment_id) payment_id, wallet_id FROM payment_source WHERE wallet_id IS NOT NULL
        ORDER BY payment_id, id) s
    WHERE s.payment_id = p.id
"""


def upgrade() -> None:
    made = [
        f"ADD COLUMN {name}_text text NOT NULL GENERATED ALWAYS AS (search_text({name})) STORED" for name in TEXTS
    ]
    made.append(f"ADD COLUMN refund_status varchar(10) NOT NULL GENERATED ALWAYS AS ({REFUND_STATUS}) STORED")
    op.execute(f"ALTER TABLE payment ADD COLUMN extra_wallet_id integer, {', '.join(made)}")
    op.execute(FIRST_WALLETS)
    op.create_foreign_key('payment_extra_wallet_id_fkey', 'payment', 'wallet', ['extra_wallet_id'], ['id'])
    op.create_index('payment_extra_wallet_id_idx', 'payment', ['extra_wallet_id'])
    grams = " || ".join(f"search_grams('{letter}', {name}_text)" for name, letter in TEXTS.items())
    op.execute(f"CREATE INDEX payment_search_idx ON payment USING gin (({grams}))")
    op.drop_index('payment_customer_email_idx', table_name='payment')
    for table, indexes in INDEXES.items():
        for name, columns in indexes.items():
            op.create_index(name, table, columns)
    op.drop_index('refund_partner_id_idx', table_name='refund')
    op.drop_index('transfer_partner_id_idx', table_name='transfer')


def downgrade() -> None:
    op.create_index('transfer_partner_id_idx', 'transfer', ['partner_id'])
    op.create_index('refund_partner_id_idx', 'refund', ['partner_id'])
    for table, indexes in INDEXES.items():
        for name in indexes:
            op.drop_index(name, table_name=table)
    op.create_index('payment_customer_email_idx', 'payment', [sa.literal_column('lower(customer_email)'), 'partner_id'])
    op.drop_index('payment_search_idx', table_name='payment')
    op.drop_index('payment_extra_wallet_id_idx', table_name='payment')
    for name in ("extra_wallet_id", "refund_status", *(f"{text}_text" for text in TEXTS)):
        op.drop_column('payment', name)
