"""SQL about fees: which journal had charged what another gave back, and what was taken again of it."""

RETAKEN = """{retaken}.book_id = {journal}.book_id AND {retaken}.source_kind = 'ledger_journal'
    AND {retaken}.source_id = {journal}.id::text AND {retaken}.kind = 'fee_retaken'"""
"""SQL: true of the journal that takes a fee again, which another journal had given back twice."""
ORIGIN = """
    LEFT JOIN payment_transaction t ON t.id = CASE j.source_kind WHEN 'refund' THEN split_part(j.source_id, ':', 2)::int END
    LEFT JOIN payment_source s ON s.id = t.source_id
    LEFT JOIN LATERAL (
        SELECT * FROM network_gift_card_usage
        WHERE payment_id = t.payment_id AND gift_card_id = s.gift_card_id LIMIT 1
    ) r ON j.kind = 'reversal'
    LEFT JOIN ledger_journal o ON o.book_id = j.book_id AND j.kind IN ('refund', 'refund_failed', 'reversal')
        AND o.kind = CASE j.kind WHEN 'reversal' THEN 'capture' ELSE 'payment' END
        AND o.source_kind = CASE WHEN j.source_kind <> 'refund' THEN j.source_kind
            WHEN j.kind = 'reversal' THEN 'network_gift_card_usage' ELSE 'payment' END
        AND o.source_id = CASE WHEN j.source_kind <> 'refund' THEN j.source_id
            WHEN j.kind = 'reversal' THEN r.id::text ELSE t.payment_id::text END
    LEFT JOIN invoiced_fee x ON x.journal_id = o.id
"""
"""SQL: of a journal `j` that gave a fee back, the refund `t`, the usage `r`, the journal `o` that had charged it, and `x`, that
fee on an invoice.
"""
