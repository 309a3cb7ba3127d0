"""The ledger can be proved and listed: journals name their marketplace, and their sources are found by a beginning."""

import sqlalchemy as sa
from alembic import op

from store.migrations.progress import by_range

revision = '0027'
down_revision = '0026'
branch_labels = None
depends_on = None

MARKETPLACES = """
    UPDATE ledger_journal j SET marketplace_id = b.marketplace_id FROM ledger_book b
    WHERE b.id = j.book_id AND j.id BETWEEN :first AND :last
"""
SUMS = """
    CREATE OR REPLACE FUNCTION ledger_sums_to_zero() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE wrong bigint;
    BEGIN
        SELECT e.journal_id INTO wrong FROM added e LEFT JOIN ledger_journal j ON j.id = e.journal_id
            LEFT JOIN ledger_account a ON a.id = e.account_id
            GROUP BY e.journal_id, j.id, j.lines
            HAVING j.id IS NULL OR sum(e.amount) <> 0 OR count(*) <> j.lines OR min(e.line) <> 1 OR max(e.line) <> j.lines
                OR bool_or(a.id IS NULL OR a.book_id <> j.book_id)
            LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'The entries of journal % do not sum to zero in its book.', wrong USING ERRCODE = 'check_violation';
        END IF;
        RETURN NULL;
    END $$
"""
ACCOUNTS = """
    CREATE FUNCTION ledger_account_is_kept() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'An account of the ledger keeps its book, its role and its owner for ever.'; END $$
"""
KEPT = (
    """
    CREATE TRIGGER ledger_account_is_kept_row BEFORE DELETE OR UPDATE OF id, book_id, role, owner_id, owner_uuid, side, has_floor
    ON ledger_account FOR EACH ROW EXECUTE FUNCTION ledger_account_is_kept()
    """,
    """
    CREATE TRIGGER ledger_account_is_kept_statement BEFORE TRUNCATE ON ledger_account
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_account_is_kept()
    """,
)


def upgrade() -> None:
    for table in ('ledger_journal', 'ledger_entry'):  # early copies of 0021 took them: then no entry can refer to a journal
        op.execute(f'GRANT UPDATE, DELETE, TRUNCATE ON {table} TO CURRENT_USER')
    op.execute('ALTER TABLE ledger_journal DISABLE TRIGGER USER')
    op.drop_index('ledger_journal_source_idx', table_name='ledger_journal')
    op.drop_index('ledger_journal_day_idx', table_name='ledger_journal')
    op.drop_constraint('ledger_journal_source_key', 'ledger_journal', type_='unique')
    op.drop_constraint('ledger_journal_reverses_key', 'ledger_journal', type_='unique')
    op.add_column('ledger_journal', sa.Column('marketplace_id', sa.Integer(), nullable=True))
    by_range('ledger_journal', MARKETPLACES)
    op.alter_column('ledger_journal', 'marketplace_id', nullable=False)
    op.create_foreign_key(op.f('ledger_journal_marketplace_id_fkey'), 'ledger_journal', 'marketplace', ['marketplace_id'], ['id'])
    op.create_index('ledger_journal_source_key', 'ledger_journal', ['source_kind', 'source_id', 'kind', 'book_id'], unique=True, postgresql_ops={'source_id': 'text_pattern_ops'})
    op.create_index('ledger_journal_reverses_key', 'ledger_journal', ['reverses_id'], unique=True, postgresql_where=sa.text('reverses_id IS NOT NULL'))
    op.create_index('ledger_journal_day_idx', 'ledger_journal', ['effective_on', 'id'], unique=False)
    op.create_index('ledger_journal_marketplace_idx', 'ledger_journal', ['marketplace_id', 'effective_on', 'id'], unique=False)
    op.execute('ALTER TABLE ledger_journal ENABLE TRIGGER USER')
    op.create_index('ledger_entry_position_idx', 'ledger_entry', ['position'], unique=False, postgresql_using='brin', postgresql_with={'pages_per_range': 16, 'autosummarize': True})
    for column in ('account_id', 'journal_id'):  # of early copies of 0021: the trigger checks both, without a lock on shared accounts
        op.execute(f'ALTER TABLE ledger_entry DROP CONSTRAINT IF EXISTS ledger_entry_{column}_fkey')
    op.execute(SUMS)
    op.execute(ACCOUNTS)
    for statement in KEPT:
        op.execute(statement)
    op.add_column('ledger_finding', sa.Column('milliseconds', sa.Integer(), nullable=False, server_default='0'))
    op.alter_column('ledger_finding', 'milliseconds', server_default=None)
    op.execute('ANALYZE gift_card, wallet, ledger_account, ledger_journal, ledger_entry')


def downgrade() -> None:
    op.drop_column('ledger_finding', 'milliseconds')
    for each in ('row', 'statement'):
        op.execute(f'DROP TRIGGER ledger_account_is_kept_{each} ON ledger_account')
    op.execute('DROP FUNCTION ledger_account_is_kept()')
    op.drop_index('ledger_entry_position_idx', table_name='ledger_entry')
    op.drop_index('ledger_journal_marketplace_idx', table_name='ledger_journal')
    op.drop_index('ledger_journal_day_idx', table_name='ledger_journal')
    op.drop_index('ledger_journal_reverses_key', table_name='ledger_journal')
    op.drop_index('ledger_journal_source_key', table_name='ledger_journal')
    op.drop_column('ledger_journal', 'marketplace_id')
    op.create_unique_constraint('ledger_journal_reverses_key', 'ledger_journal', ['reverses_id'])
    op.create_unique_constraint('ledger_journal_source_key', 'ledger_journal', ['book_id', 'source_kind', 'source_id', 'kind'])
    op.create_index('ledger_journal_day_idx', 'ledger_journal', ['book_id', 'effective_on', 'id'], unique=False)
    op.create_index('ledger_journal_source_idx', 'ledger_journal', ['source_kind', 'source_id'], unique=False)
