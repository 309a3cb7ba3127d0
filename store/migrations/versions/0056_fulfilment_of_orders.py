"""How far staff are with what orders hand over or send. Orders from before have no state: nobody knows how far they are."""

import sqlalchemy as sa
from alembic import op

revision = '0056'
down_revision = '0055'
branch_labels = None
depends_on = None

BY_KIND = (
    "fulfilment_state IS NULL"
    " OR delivery_kind = 'click_and_collect'"
    " AND fulfilment_state IN ('to_prepare', 'ready_to_collect', 'collected', 'cancelled')"
    " OR delivery_kind = 'home_delivery'"
    " AND fulfilment_state IN ('to_prepare', 'sent', 'delivered', 'cancelled')"
)
MOMENTS = ('ready_on', 'collected_on', 'sent_on', 'delivered_on', 'cancelled_on')


def upgrade() -> None:
    op.add_column('shop_order', sa.Column('fulfilment_state', sa.String(20), nullable=True))
    op.add_column('shop_order', sa.Column('fulfilment_carrier', sa.String(80), nullable=True))
    op.add_column('shop_order', sa.Column('fulfilment_tracking_number', sa.String(80), nullable=True))
    op.add_column('shop_order', sa.Column('fulfilment_tracking_url', sa.String(2048), nullable=True))
    for moment in MOMENTS:
        op.add_column('shop_order', sa.Column(f'fulfilment_{moment}', sa.DateTime(timezone=True), nullable=True))
    op.create_check_constraint(op.f('shop_order_fulfils_by_kind'), 'shop_order', BY_KIND)
    op.create_check_constraint(
        op.f('shop_order_tracks_over_https'), 'shop_order', "lower(fulfilment_tracking_url) LIKE 'https://%'"
    )
    op.create_index(
        'shop_order_fulfilment_list_idx',
        'shop_order',
        ['partner_id', 'fulfilment_state', 'created_on', 'id'],
        postgresql_where=sa.text('fulfilment_state IS NOT NULL'),
    )


def downgrade() -> None:
    op.drop_index('shop_order_fulfilment_list_idx', table_name='shop_order')
    op.drop_constraint(op.f('shop_order_tracks_over_https'), 'shop_order')
    op.drop_constraint(op.f('shop_order_fulfils_by_kind'), 'shop_order')
    for moment in reversed(MOMENTS):
        op.drop_column('shop_order', f'fulfilment_{moment}')
    op.drop_column('shop_order', 'fulfilment_tracking_url')
    op.drop_column('shop_order', 'fulfilment_tracking_number')
    op.drop_column('shop_order', 'fulfilment_carrier')
    op.drop_column('shop_order', 'fulfilment_state')
