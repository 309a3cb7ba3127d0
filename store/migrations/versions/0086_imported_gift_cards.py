"""Gift cards tell whether they were imported from another system.

Of old ones, all of them a network's, those are known of which a part was used there.
"""

import sqlalchemy as sa
from alembic import op

revision = '0086'
down_revision = '0085'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('gift_card', sa.Column('is_imported', sa.Boolean(), server_default=sa.false(), nullable=False))
    op.execute('UPDATE gift_card SET is_imported = true WHERE used_elsewhere_amount > 0')


def downgrade() -> None:
    op.drop_column('gift_card', 'is_imported')
