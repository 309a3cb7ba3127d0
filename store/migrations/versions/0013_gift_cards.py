"""Gift cards: recipients, documents, holds, what is spent."""

import sqlalchemy as sa
from alembic import op

revision = '0013'
down_revision = '0012'
branch_labels = None
depends_on = None

SPENT = """
    INSERT INTO gift_card_entry (partner_id, gift_card_id, kind, amount, currency, reference, attempt_id, round, created_on)
    SELECT e.partner_id, e.gift_card_id, ended.kind, ended.sign * e.amount, e.currency, '', e.attempt_id, e.round, o.created_on
    FROM gift_card_entry e
    JOIN shop_order o ON o.attempt_id = e.attempt_id
    CROSS JOIN (VALUES ('release', -1), ('capture', 1)) AS ended (kind, sign)
    WHERE e.kind = 'hold' AND NOT EXISTS (
        SELECT 1 FROM gift_card_entry r
        WHERE (r.gift_card_id, r.attempt_id, r.round, r.kind) = (e.gift_card_id, e.attempt_id, e.round, 'release')
    )
    ORDER BY e.id, ended.sign
"""
UNSPENT = """
    DELETE FROM gift_card_entry e USING gift_card_entry c
    WHERE c.kind = 'capture' AND c.attempt_id IS NOT NULL AND e.kind IN ('release', 'capture')
    AND (e.gift_card_id, e.attempt_id, e.round) = (c.gift_card_id, c.attempt_id, c.round)
"""
RUNNING = """
    UPDATE gift_card c SET remaining_amount = c.remaining_amount + h.amount
    FROM (SELECT gift_card_id, sum(held_amount) AS amount FROM gift_card_hold WHERE state = 'running' GROUP BY 1) h
    WHERE h.gift_card_id = c.id
"""
LISTS = (
    ('gift_card_created_on_list_idx', ['partner_id', 'created_on', 'id'], None),
    ('gift_card_expires_on_list_idx', ['partner_id', 'expires_on', 'id'], None),
    ('gift_card_status_list_idx', ['partner_id', 'status', 'created_on', 'id'], None),
    ('gift_card_newest_idx', ['created_on', 'id'], None),
    ('gift_card_ending_idx', ['expires_on', 'id'], None),
    ('gift_card_due_idx', ['expires_on', 'id'], "status IN ('paid', 'using')"),
)


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
    for name, columns, where in LISTS:
        op.create_index(name, 'gift_card', columns, unique=False, postgresql_where=where and sa.text(where))
    op.drop_index(op.f('gift_card_partner_id_idx'), table_name='gift_card')
    op.create_table('gift_card_hold',
    sa.Column('state', sa.String(20), nullable=False),
    sa.Column('reference', sa.String(80), nullable=False),
    sa.Column('expires_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('closed_on', sa.DateTime(timezone=True), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=False),
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('gift_card_id', sa.Integer(), nullable=False),
    sa.Column('held_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('captured_amount', sa.Numeric(precision=12, scale=2), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('created_on', sa.DateTime(timezone=True), nullable=False),
    sa.CheckConstraint('held_amount > 0', name=op.f('gift_card_hold_holds_something')),
    sa.CheckConstraint('captured_amount BETWEEN 0 AND held_amount', name=op.f('gift_card_hold_captures_no_more')),
    sa.CheckConstraint("(state = 'running') = (closed_on IS NULL)", name=op.f('gift_card_hold_is_closed_once')),
    sa.ForeignKeyConstraint(['gift_card_id'], ['gift_card.id'], name=op.f('gift_card_hold_gift_card_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('gift_card_hold_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('gift_card_hold_pkey'))
    )
    op.create_index(op.f('gift_card_hold_partner_id_idx'), 'gift_card_hold', ['partner_id'], unique=False)
    op.create_index(op.f('gift_card_hold_gift_card_id_idx'), 'gift_card_hold', ['gift_card_id'], unique=False)
    op.create_index(
        'gift_card_hold_due_idx', 'gift_card_hold', ['expires_on', 'id'], postgresql_where=sa.text("state = 'running'")
    )
    op.add_column('gift_card_entry', sa.Column('reference', sa.String(80), nullable=False, server_default=''))
    op.alter_column('gift_card_entry', 'reference', server_default=None)
    op.add_column('gift_card_entry', sa.Column('currency', sa.String(3), nullable=True))
    op.execute('UPDATE gift_card_entry e SET currency = c.currency FROM gift_card c WHERE c.id = e.gift_card_id')
    op.alter_column('gift_card_entry', 'currency', nullable=False)
    op.add_column('gift_card_entry', sa.Column('hold_id', sa.Integer(), nullable=True))
    op.create_foreign_key(
        op.f('gift_card_entry_hold_id_fkey'), 'gift_card_entry', 'gift_card_hold', ['hold_id'], ['id']
    )
    op.create_unique_constraint('gift_card_entry_once_a_hold_key', 'gift_card_entry', ['hold_id', 'kind'])
    op.execute(SPENT)


def downgrade() -> None:
    op.execute(UNSPENT)
    op.execute(RUNNING)
    op.execute("DELETE FROM gift_card_entry WHERE hold_id IS NOT NULL AND kind IN ('hold', 'release')")
    op.execute("UPDATE gift_card_entry SET kind = 'hold' WHERE kind = 'capture'")  # a hold that is never released
    op.drop_constraint('gift_card_entry_once_a_hold_key', 'gift_card_entry', type_='unique')
    for name in ('hold_id', 'currency', 'reference'):
        op.drop_column('gift_card_entry', name)
    op.drop_table('gift_card_hold')
    op.create_index(op.f('gift_card_partner_id_idx'), 'gift_card', ['partner_id'], unique=False)
    for name, _, _ in reversed(LISTS):
        op.drop_index(name, table_name='gift_card')
    op.drop_index(op.f('gift_card_order_id_idx'), table_name='gift_card')
    op.drop_constraint(op.f('gift_card_order_id_fkey'), 'gift_card', type_='foreignkey')
    op.drop_constraint('gift_card_document_token_key', 'gift_card', type_='unique')
    for name in (
        'order_id', 'message', 'recipient_address', 'giftee_email', 'giftee_last_name', 'giftee_first_name',
        'gifter_email', 'reception_mode', 'language', 'document_token',
    ):
        op.drop_column('gift_card', name)
