"""Jobs of staff in the back office, by role: what each costs, beside the same job elsewhere.

`docs/staff-jobs.md` has the figures. A walk fails if they are no longer true; `WRITE_DOCS=1` writes what it measures.
"""
