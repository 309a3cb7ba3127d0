# ruff: noqa: S608 - statements are made of SQL in this package
"""Rules of invoices: they are the sum of the fees that the ledger has, each on one, and their numbers have no gaps."""

from store.ledger.fees import ORIGIN, RETAKEN
from store.ledger.verification.rule import JOURNALS, MINOR, Rule, is_checked

FEE = """(
    SELECT -sum(e.amount) FROM ledger_entry e JOIN ledger_account a ON a.id = e.account_id
    WHERE a.role IN {roles} AND e.journal_id IN (
        SELECT j.id UNION ALL SELECT o.id FROM ledger_journal o WHERE {retaken})
)"""
RETAKEN_OF_IT = RETAKEN.format(retaken="o", journal="j")
FEES = FEE.format(roles="('commission', 'management_fees', 'vat_on_commission')", retaken=RETAKEN_OF_IT)
VAT = FEE.format(roles="('vat_on_commission')", retaken=RETAKEN_OF_IT)
"""SQL: the fee and VAT of a journal `j`, less what was taken again."""
OF_INVOICE = is_checked("v.book_id", "v.invoicing_date")

RULES = (
    Rule(
        "invoiced_fees",
        "Each fee on an invoice is that of its journal, and of the partner that the invoice is for.",
        f"""
        SELECT format('invoice %s: the fee of journal:%s is %s with %s VAT, posted are %s and %s', v.number, f.journal_id,
            f.amount, f.vat, {FEES}, {VAT}) AS offender
        FROM invoiced_fee f JOIN {JOURNALS} j ON j.id = f.journal_id
        JOIN invoice_line l ON l.id = f.invoice_line_id JOIN invoice v ON v.id = l.invoice_id
        WHERE (f.amount, f.vat) IS DISTINCT FROM ({FEES}, coalesce({VAT}, 0))
            OR (j.partner_id, j.book_id) IS DISTINCT FROM (v.partner_id, v.book_id)
        """,
    ),
    Rule(
        "invoice_totals",
        "Each invoice is the sum of its lines, and each line that corrects no invoice the sum of its fees.",
        f"""
        SELECT format('invoice %s: %s, its lines sum to %s and its fees to %s', v.number, v.total_amount, l.total, l.fees) AS offender
        FROM invoice v JOIN ledger_book b ON b.id = v.book_id LEFT JOIN LATERAL (
            SELECT sum(l.total_amount) AS total, sum(l.vat_amount) AS vat, sum(f.amount) AS fees,
                bool_and({MINOR.format(amount="l.total_amount")} IS NOT DISTINCT FROM f.amount) AS fits
            FROM invoice_line l LEFT JOIN (
                SELECT invoice_line_id, sum(amount)::bigint AS amount FROM invoiced_fee GROUP BY 1
            ) f ON f.invoice_line_id = l.id WHERE l.invoice_id = v.id
        ) l ON true
        WHERE {OF_INVOICE} AND ((v.total_amount, v.vat_amount) IS DISTINCT FROM (l.total, l.vat)
            OR v.corrects_id IS NULL AND NOT l.fits)
        """,
    ),
    Rule(
        "invoice_vat",
        "The VAT of each invoice is posted: that of its fees with the rounding, or that of the credit note.",
        f"""
        SELECT format('invoice %s: %s VAT, posted are %s', v.number, v.vat_amount, p.vat) AS offender
        FROM invoice v JOIN ledger_book b ON b.id = v.book_id JOIN LATERAL (
            SELECT coalesce((
                SELECT sum(f.vat) FROM invoice_line l JOIN invoiced_fee f ON f.invoice_line_id = l.id WHERE l.invoice_id = v.id
            ), 0) + coalesce((
                SELECT sum({VAT}) FROM ledger_journal j WHERE j.source_kind = 'invoice' AND j.source_id = v.id::text
                    AND j.book_id = v.book_id AND j.kind IN ('invoice_rounding', 'credit_note')
            ), 0) AS vat
        ) p ON true
        WHERE {OF_INVOICE} AND p.vat <> {MINOR.format(amount="v.vat_amount")}
        """,
    ),
    Rule(
        "credit_notes",
        "What credit notes gave back of an invoice is no more than its lines, and is what their lines say.",
        f"""
        SELECT format('invoice %s: %s given back, its credit notes say %s', v.number, l.credited, coalesce(n.total, 0)) AS offender
        FROM invoice v JOIN (SELECT invoice_id, sum(credited_amount) AS credited FROM invoice_line GROUP BY 1) l ON l.invoice_id = v.id
        LEFT JOIN (
            SELECT corrects_id, -sum(total_amount) AS total FROM invoice WHERE corrects_id IS NOT NULL GROUP BY 1
        ) n ON n.corrects_id = v.id
        WHERE {OF_INVOICE} AND l.credited <> coalesce(n.total, 0)
        """,
    ),
    Rule(
        "fees_given_back",
        "Credit notes about a line of an invoice, those that correct it and those about refunds and cancelled usages, give back "
        "no more than its payments and usages were charged.",
        f"""
        SELECT format('invoice %s, line %s: charged %s, corrected %s, returned %s', v.number, l.position, c.charged, c.corrected,
            r.returned) AS offender
        FROM invoice v JOIN ledger_book b ON b.id = v.book_id JOIN invoice_line l ON l.invoice_id = v.id CROSS JOIN LATERAL (
            SELECT coalesce(sum(f.amount), 0) AS charged, {MINOR.format(amount="l.credited_amount")} AS corrected
            FROM invoiced_fee f JOIN ledger_journal j ON j.id = f.journal_id
            WHERE f.invoice_line_id = l.id AND j.kind IN ('payment', 'capture')
        ) c JOIN (
            SELECT x.invoice_line_id, -sum(coalesce(i.amount, {FEES}, 0)) AS returned
            FROM ledger_journal j {ORIGIN} LEFT JOIN invoiced_fee i ON i.journal_id = j.id
            WHERE j.kind = 'refund_failed' OR j.kind IN ('refund', 'reversal') AND i.journal_id IS NOT NULL GROUP BY 1
        ) r ON r.invoice_line_id = l.id
        WHERE {OF_INVOICE} AND v.kind = 'invoice' AND c.corrected + r.returned > c.charged
        """,
    ),
    Rule(
        "invoice_numbers",
        "The numbers of each marketplace's invoices begin with 1 and have no gaps.",
        """
        SELECT format('marketplace:%s: %s invoices, the highest number is %s, the last that was given %s', s.marketplace_id,
            count(v.id), coalesce(max(v.sequence_number), 0), s.last_number) AS offender
        FROM invoice_series s LEFT JOIN invoice v ON v.marketplace_id = s.marketplace_id
        WHERE CAST(:books AS int[]) IS NULL OR s.marketplace_id IN (
            SELECT marketplace_id FROM ledger_book WHERE id = ANY(CAST(:books AS int[])))
        GROUP BY s.marketplace_id, s.last_number
        HAVING (count(v.id), coalesce(max(v.sequence_number), 0)) <> (s.last_number, s.last_number)
        """,
    ),
)
