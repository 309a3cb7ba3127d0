"""One payer at the provider for each e-mail address, instead of one for each attempt to pay."""

import sqlalchemy as sa
from alembic import op

revision = '0023'
down_revision = '0022'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'payer',
        sa.Column('provider_id', sa.String(128), nullable=False),
        sa.Column('id', sa.Uuid(), nullable=False),
        sa.Column('account', sa.String(255), nullable=False),
        sa.Column('email_digest', sa.LargeBinary(), nullable=False),
        sa.Column('key', sa.Uuid(), nullable=False),
        sa.Column('sent_at', sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint('id', name=op.f('payer_pkey')),
        sa.UniqueConstraint('account', 'email_digest', name='payer_email_key'),
    )
    op.drop_column('checkout_attempt', 'payer_key')


def downgrade() -> None:
    key = sa.Column('payer_key', sa.Uuid(), server_default=sa.text('gen_random_uuid()'), nullable=False)
    op.add_column('checkout_attempt', key)
    op.alter_column('checkout_attempt', 'payer_key', server_default=None)
    op.drop_table('payer')
