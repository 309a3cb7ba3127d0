"""Let customers pay with Bancontact, iDEAL and American Express."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0069'
down_revision = '0065'
branch_labels = None
depends_on = None

TYPE = sa.String(20)


def upgrade() -> None:
    op.add_column('payment_transaction', sa.Column('method', TYPE, nullable=True))
    op.execute("UPDATE payment_transaction SET method = 'card' WHERE type = 'payin' AND payment_method = 'credit_card'")
    op.add_column(  # these tables are locked only after the long statement
        'partner',
        sa.Column('payment_methods', postgresql.ARRAY(TYPE), nullable=False, server_default=sa.text("'{card}'")),
    )
    op.add_column('checkout_attempt', sa.Column('payment_method', TYPE, nullable=False, server_default='card'))


def downgrade() -> None:
    op.drop_column('payment_transaction', 'method')
    op.drop_column('checkout_attempt', 'payment_method')
    op.drop_column('partner', 'payment_methods')
