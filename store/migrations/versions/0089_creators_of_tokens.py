"""Who has created a token, and that of the token of the first of two users.

The new columns are null, so that the foreign keys have nothing to look up.
"""

import sqlalchemy as sa
from alembic import op

revision = '0089'
down_revision = '0088'
branch_labels = None
depends_on = None

COLUMNS = (
    ('token', 'created_by_id'),
    ('payout_adjustment', 'token_created_by_id'),
    ('payout_request', 'first_token_created_by_id'),
)


def upgrade() -> None:
    for table, name in COLUMNS:
        op.add_column(table, sa.Column(name, sa.Integer(), nullable=True))
        op.create_foreign_key(op.f(f'{table}_{name}_fkey'), table, 'app_user', [name], ['id'])


def downgrade() -> None:
    for table, name in COLUMNS:
        op.drop_column(table, name)
