"""Gift cards: recipients, documents."""

import sqlalchemy as sa
from alembic import op

revision = '0013'
down_revision = '0012'
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name, kind, given in (
        ('document_token', sa.String(64), sa.text("replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '')")),
        ('language', sa.String(2), 'en'),
        ('reception_mode', sa.String(40), 'print_at_home'),
        ('gifter_email', sa.String(254), ''),
    ):
        op.add_column('gift_card', sa.Column(name, kind, nullable=False, server_default=given))
        op.alter_column('gift_card', name, server_default=None)
    op.add_column('gift_card', sa.Column('giftee_first_name', sa.String(80), nullable=True))
    op.add_column('gift_card', sa.Column('giftee_last_name', sa.String(80), nullable=True))
    op.add_column('gift_card', sa.Column('giftee_email', sa.String(254), nullable=True))
    op.add_column('gift_card', sa.Column('recipient_address', sa.String(600), nullable=True))
    op.add_column('gift_card', sa.Column('message', sa.String(1000), nullable=True))
    op.add_column('gift_card', sa.Column('order_id', sa.Integer(), nullable=True))
    op.create_unique_constraint('gift_card_document_token_key', 'gift_card', ['document_token'])
    op.create_foreign_key(op.f('gift_card_order_id_fkey'), 'gift_card', 'shop_order', ['order_id'], ['id'])
    op.create_index(op.f('gift_card_order_id_idx'), 'gift_card', ['order_id'], unique=False)


def downgrade() -> None:
    op.drop_index(op.f('gift_card_order_id_idx'), table_name='gift_card')
    op.drop_constraint(op.f('gift_card_order_id_fkey'), 'gift_card', type_='foreignkey')
    op.drop_constraint('gift_card_document_token_key', 'gift_card', type_='unique')
    for name in (
        'order_id', 'message', 'recipient_address', 'giftee_email', 'giftee_last_name', 'giftee_first_name',
        'gifter_email', 'reception_mode', 'language', 'document_token',
    ):
        op.drop_column('gift_card', name)
