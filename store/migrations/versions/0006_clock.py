"""Development's clock is remembered."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0006'
down_revision = '0005'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('development_clock',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('ahead', sa.Interval(), nullable=False),
    sa.CheckConstraint("id = 1", name='development_clock_only_one'),
    sa.PrimaryKeyConstraint('id', name=op.f('development_clock_pkey'))
    )


def downgrade() -> None:
    op.drop_table('development_clock')
