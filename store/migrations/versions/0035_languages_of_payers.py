"""A payment needs no language: its customer brings one."""

import sqlalchemy as sa
from alembic import op

revision = '0035'
down_revision = '0034'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.alter_column('payment', 'language', existing_type=sa.String(2), nullable=True)


def downgrade() -> None:
    op.execute("UPDATE payment SET language = 'en' WHERE language IS NULL")
    op.alter_column('payment', 'language', existing_type=sa.String(2), nullable=False)
