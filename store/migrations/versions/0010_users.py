"""Users are listed."""

import sqlalchemy as sa
from alembic import op

revision = '0010'
down_revision = '0009'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('app_user', sa.Column('created_on', sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False))
    op.alter_column('app_user', 'created_on', server_default=None)
    op.create_index('app_user_username_list_idx', 'app_user', ['partner_id', 'username', 'id'], unique=False)
    op.create_index('app_user_created_on_list_idx', 'app_user', ['partner_id', 'created_on', 'id'], unique=False)
    op.create_index('marketplace_name_list_idx', 'marketplace', ['name', 'id'], unique=False)


def downgrade() -> None:
    op.drop_index('marketplace_name_list_idx', table_name='marketplace')
    op.drop_index('app_user_created_on_list_idx', table_name='app_user')
    op.drop_index('app_user_username_list_idx', table_name='app_user')
    op.drop_column('app_user', 'created_on')
