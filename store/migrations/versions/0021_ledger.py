"""The ledger: books, accounts, journals and entries that nothing can change."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = '0021'
down_revision = '0020'
branch_labels = None
depends_on = None


FUNCTIONS = (
    """
    CREATE FUNCTION ledger_shift() RETURNS bigint LANGUAGE sql STABLE AS
    $$ SELECT coalesce((SELECT shift FROM ledger_shift), 0) $$
    """,
    """
    CREATE FUNCTION ledger_position() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT pg_current_xact_id()::text::bigint + ledger_shift() $$
    """,
    """
    CREATE FUNCTION ledger_is_kept() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'The ledger is never changed: post another journal.'; END $$
    """,
    """
    CREATE FUNCTION ledger_sums_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE wrong bigint;
    BEGIN
        SELECT j.id INTO wrong FROM added e JOIN ledger_journal j ON j.id = e.journal_id
            JOIN ledger_account a ON a.id = e.account_id
            GROUP BY j.id, j.lines
            HAVING sum(e.amount) <> 0 OR count(*) <> j.lines OR min(e.line) <> 1 OR max(e.line) <> j.lines
                OR bool_or(a.book_id <> j.book_id)
            LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'The entries of journal % do not sum to zero in its book.', wrong USING ERRCODE = 'check_violation';
        END IF;
        RETURN NULL;
    END $$
    """,
)


def upgrade() -> None:
    op.create_table('ledger_finding',
    sa.Column('rule', sa.String(40), nullable=False),
    sa.Column('checked_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('offenders', sa.Integer(), nullable=False),
    sa.Column('sample', postgresql.JSONB(astext_type=sa.Text()), nullable=False),
    sa.PrimaryKeyConstraint('rule', name=op.f('ledger_finding_pkey'))
    )
    op.create_table('ledger_seal',
    sa.Column('n', sa.BigInteger(), sa.Identity(always=True), nullable=False),
    sa.Column('before_position', sa.BigInteger(), nullable=False),
    sa.Column('entries', sa.BigInteger(), nullable=False),
    sa.Column('digest', sa.LargeBinary(), nullable=False),
    sa.Column('sealed_on', sa.DateTime(timezone=True), nullable=False),
    sa.PrimaryKeyConstraint('n', name=op.f('ledger_seal_pkey')),
    sa.UniqueConstraint('before_position', name=op.f('ledger_seal_before_position_key'))
    )
    op.create_table('ledger_shift',
    sa.Column('id', sa.Boolean(), nullable=False),
    sa.Column('shift', sa.BigInteger(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('ledger_shift_pkey'))
    )
    op.create_table('ledger_book',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('currency', sa.String(3), nullable=False),
    sa.Column('is_live', sa.Boolean(), nullable=False),
    sa.Column('minor_digits', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('ledger_book_marketplace_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('ledger_book_pkey')),
    sa.UniqueConstraint('marketplace_id', 'currency', 'is_live', name='ledger_book_key')
    )
    op.create_table('ledger_account',
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('role', sa.String(20), nullable=False),
    sa.Column('owner_id', sa.BigInteger(), nullable=True),
    sa.Column('owner_uuid', sa.Uuid(), nullable=True),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('side', sa.Integer(), nullable=False),
    sa.Column('has_floor', sa.Boolean(), nullable=False),
    sa.Column('balance', sa.BigInteger(), nullable=False),
    sa.Column('version', sa.BigInteger(), nullable=False),
    sa.CheckConstraint('NOT has_floor OR balance * side >= 0', name=op.f('ledger_account_floor')),
    sa.CheckConstraint('side IN (1, -1)', name=op.f('ledger_account_side')),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('ledger_account_book_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('ledger_account_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('ledger_account_pkey')),
    postgresql_with={'fillfactor': 50}
    )
    op.create_index('ledger_account_key', 'ledger_account', ['book_id', 'role', 'owner_id', 'owner_uuid'], unique=True, postgresql_nulls_not_distinct=True)
    op.create_index('ledger_account_owner_idx', 'ledger_account', ['owner_id', 'role'], unique=False)
    op.create_index('ledger_account_owner_uuid_idx', 'ledger_account', ['owner_uuid', 'role'], unique=False, postgresql_where=sa.text('owner_uuid IS NOT NULL'))
    op.create_index('ledger_account_partner_idx', 'ledger_account', ['partner_id', 'role'], unique=False)
    op.create_table('ledger_journal',
    sa.Column('id', sa.BigInteger(), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('source_kind', sa.String(40), nullable=False),
    sa.Column('source_id', sa.String(120), nullable=False),
    sa.Column('effective_on', sa.Date(), nullable=False),
    sa.Column('recorded_on', sa.DateTime(timezone=True), nullable=False),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('lines', sa.Integer(), nullable=False),
    sa.Column('request_id', sa.String(128), nullable=False),
    sa.Column('reverses_id', sa.BigInteger(), nullable=True),
    sa.Column('fingerprint', sa.LargeBinary(), nullable=False),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('ledger_journal_book_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('ledger_journal_partner_id_fkey')),
    sa.ForeignKeyConstraint(['reverses_id'], ['ledger_journal.id'], name=op.f('ledger_journal_reverses_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('ledger_journal_pkey')),
    sa.UniqueConstraint('book_id', 'source_kind', 'source_id', 'kind', name='ledger_journal_source_key'),
    sa.UniqueConstraint('reverses_id', name='ledger_journal_reverses_key')
    )
    op.create_index('ledger_journal_day_idx', 'ledger_journal', ['book_id', 'effective_on', 'id'], unique=False)
    op.create_index('ledger_journal_partner_idx', 'ledger_journal', ['partner_id', 'effective_on', 'id'], unique=False)
    op.create_index('ledger_journal_source_idx', 'ledger_journal', ['source_kind', sa.text('source_id COLLATE "C"')], unique=False)
    op.create_table('wallet',
    sa.Column('id', sa.Integer(), nullable=False),
    sa.Column('uuid', sa.Uuid(), nullable=False),
    sa.Column('kind', sa.String(20), nullable=False),
    sa.Column('is_live', sa.Boolean(), nullable=False),
    sa.Column('book_id', sa.Integer(), nullable=False),
    sa.Column('marketplace_id', sa.Integer(), nullable=False),
    sa.Column('partner_id', sa.Integer(), nullable=True),
    sa.Column('provider_wallet_id', sa.String(128), nullable=True),
    sa.CheckConstraint("(kind = 'gift_card') = (provider_wallet_id IS NULL)", name=op.f('wallet_lies_at_provider')),
    sa.CheckConstraint("(kind = 'marketplace') = (partner_id IS NULL)", name=op.f('wallet_has_owner')),
    sa.ForeignKeyConstraint(['book_id'], ['ledger_book.id'], name=op.f('wallet_book_id_fkey')),
    sa.ForeignKeyConstraint(['marketplace_id'], ['marketplace.id'], name=op.f('wallet_marketplace_id_fkey')),
    sa.ForeignKeyConstraint(['partner_id'], ['partner.id'], name=op.f('wallet_partner_id_fkey')),
    sa.PrimaryKeyConstraint('id', name=op.f('wallet_pkey')),
    sa.UniqueConstraint('provider_wallet_id', name=op.f('wallet_provider_wallet_id_key')),
    sa.UniqueConstraint('uuid', name=op.f('wallet_uuid_key'))
    )
    op.create_index(op.f('wallet_book_id_idx'), 'wallet', ['book_id'], unique=False)
    op.create_index(op.f('wallet_partner_id_idx'), 'wallet', ['partner_id'], unique=False)
    for function in FUNCTIONS:
        op.execute(function)
    op.create_table('ledger_entry',
    sa.Column('journal_id', sa.BigInteger(), nullable=False),
    sa.Column('line', sa.Integer(), nullable=False),
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('amount', sa.BigInteger(), nullable=False),
    sa.Column('balance_after', sa.BigInteger(), nullable=True),
    sa.Column('version', sa.BigInteger(), nullable=True),
    sa.Column('position', sa.BigInteger(), server_default=sa.text('ledger_position()'), nullable=False),
    sa.CheckConstraint('amount <> 0', name=op.f('ledger_entry_moves_something')),
    sa.PrimaryKeyConstraint('journal_id', 'line', name=op.f('ledger_entry_pkey'))
    )
    op.create_index('ledger_entry_account_idx', 'ledger_entry', ['account_id', 'position'], unique=False, postgresql_include=['amount'])
    op.create_table('ledger_snapshot',
    sa.Column('account_id', sa.BigInteger(), nullable=False),
    sa.Column('before_position', sa.BigInteger(), nullable=False),
    sa.Column('balance', sa.BigInteger(), nullable=False),
    sa.Column('entries', sa.BigInteger(), nullable=False),
    sa.ForeignKeyConstraint(['account_id'], ['ledger_account.id'], name=op.f('ledger_snapshot_account_id_fkey')),
    sa.PrimaryKeyConstraint('account_id', name=op.f('ledger_snapshot_pkey'))
    )
    for table in ('ledger_journal', 'ledger_entry'):
        for when, each in (('UPDATE OR DELETE', 'ROW'), ('TRUNCATE', 'STATEMENT')):
            op.execute(
                f'CREATE TRIGGER {table}_is_kept_{each.lower()} BEFORE {when} ON {table} '
                f'FOR EACH {each} EXECUTE FUNCTION ledger_is_kept()'
            )
    op.execute(
        'CREATE TRIGGER ledger_entry_sums_to_zero AFTER INSERT ON ledger_entry REFERENCING NEW TABLE AS added '
        'FOR EACH STATEMENT EXECUTE FUNCTION ledger_sums_to_zero()'
    )


def downgrade() -> None:
    op.drop_table('ledger_snapshot')
    op.drop_index('ledger_entry_account_idx', table_name='ledger_entry', postgresql_include=['amount'])
    op.drop_table('ledger_entry')
    op.drop_index(op.f('wallet_partner_id_idx'), table_name='wallet')
    op.drop_index(op.f('wallet_book_id_idx'), table_name='wallet')
    op.drop_table('wallet')
    op.drop_index('ledger_journal_source_idx', table_name='ledger_journal')
    op.drop_index('ledger_journal_partner_idx', table_name='ledger_journal')
    op.drop_index('ledger_journal_day_idx', table_name='ledger_journal')
    op.drop_table('ledger_journal')
    op.drop_index('ledger_account_partner_idx', table_name='ledger_account')
    op.drop_index('ledger_account_owner_uuid_idx', table_name='ledger_account', postgresql_where=sa.text('owner_uuid IS NOT NULL'))
    op.drop_index('ledger_account_owner_idx', table_name='ledger_account')
    op.drop_index('ledger_account_key', table_name='ledger_account', postgresql_nulls_not_distinct=True)
    op.drop_table('ledger_account')
    op.drop_table('ledger_book')
    op.drop_table('ledger_shift')
    op.drop_table('ledger_seal')
    op.drop_table('ledger_finding')
    for function in ('ledger_sums_to_zero', 'ledger_is_kept', 'ledger_position', 'ledger_shift'):
        op.execute(f'DROP FUNCTION {function}()')
