"""The uuid of the wallet of a network gift card."""

from alembic import op

revision = '0044'
down_revision = '0043'
branch_labels = None
depends_on = None

COLUMNS = """id, uuid, code, normal_code, shown_status AS status, created_on, starts_on, expires_on, value_amount,
    remaining_amount, currency, is_active, is_splittable, frozen_on, gifter_first_name, gifter_last_name, gifter_email,
    giftee_first_name, giftee_last_name, giftee_email, recipient_address, message, language, order_id, emails,
    wallet_id, document_token, network_id AS marketplace_id, design_id"""
WALLET = '(SELECT w.uuid FROM wallet w WHERE w.id = gift_card.wallet_id) AS wallet_uuid'
VIEW = 'CREATE {kind} network_gift_card AS SELECT {columns} FROM gift_card WHERE partner_id IS NULL'


def upgrade() -> None:
    op.execute(VIEW.format(kind='OR REPLACE VIEW', columns=f'{COLUMNS}, {WALLET}'))


def downgrade() -> None:
    op.execute('DROP VIEW network_gift_card')
    op.execute(VIEW.format(kind='VIEW', columns=COLUMNS))
