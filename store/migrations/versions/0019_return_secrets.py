"""Returns of customers are signed."""

import sqlalchemy as sa
from alembic import op

revision = '0019'
down_revision = '0018'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        'return_secret',
        sa.Column('partner_id', sa.Integer(), nullable=False),
        sa.Column('secret_salt', sa.LargeBinary(), nullable=False),
        sa.Column('previous_secret_salt', sa.LargeBinary(), nullable=True),
        sa.Column('previous_secret_until', sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ['partner_id'], ['partner.id'], name=op.f('return_secret_partner_id_fkey'), ondelete='CASCADE'
        ),
        sa.PrimaryKeyConstraint('partner_id', name=op.f('return_secret_pkey')),
    )


def downgrade() -> None:
    op.drop_table('return_secret')
