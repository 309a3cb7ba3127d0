"""Find the uses of a day among all entries of the audit log, most of which are saved carts."""

import sqlalchemy as sa
from alembic import op

revision = '0062'
down_revision = '0061'
branch_labels = None
depends_on = None

IS_USE = """operation IN ('capture_gift_card', 'spend_gift_card', 'update_voucher', 'use_network_gift_card', 'use_network_voucher')
    AND refused IS NULL"""


def upgrade() -> None:
    op.create_index(
        'audit_entry_use_idx', 'audit_entry', ['partner_id', 'occurred_on', 'id'], postgresql_where=sa.text(IS_USE)
    )


def downgrade() -> None:
    op.drop_index('audit_entry_use_idx', table_name='audit_entry')
