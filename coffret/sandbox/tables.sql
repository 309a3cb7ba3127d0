CREATE TABLE IF NOT EXISTS kept (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS token (
    digest TEXT PRIMARY KEY,
    expires_at REAL NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS call_count (
    kind TEXT PRIMARY KEY,
    calls INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS call_minute (
    minute INTEGER PRIMARY KEY,
    calls INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS response (
    key TEXT PRIMARY KEY,
    created_at REAL NOT NULL,
    reservation TEXT NOT NULL,
    status INTEGER,             -- null while the call is running
    url TEXT NOT NULL,
    body TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS response_age ON response (created_at);

CREATE TABLE IF NOT EXISTS fault (
    id INTEGER PRIMARY KEY,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    times INTEGER NOT NULL,
    spec TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS user (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    person_type TEXT NOT NULL,
    category TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;

-- The platform itself: the provider makes its user together with the account.
INSERT INTO user (id, person_type, category, name, body) VALUES ('platform', 'LEGAL', 'PLATFORM', 'Sandbox platform', '{
    "UserCategory": "PLATFORM",
    "TermsAndConditionsAccepted": true,
    "TermsAndConditionsAcceptedDate": 1767225600,
    "CreationDate": 1767225600,
    "LegalPersonType": "BUSINESS",
    "Name": "Sandbox platform",
    "Email": "platform@example.com",
    "CompanyNumber": "123456789",
    "HeadquartersAddress": {"AddressLine1": "1 rue du Test", "AddressLine2": null, "City": "Paris", "Region": null,
        "PostalCode": "75001", "Country": "FR"},
    "LegalRepresentativeAddress": null,
    "LegalRepresentative": {"FirstName": "Sandbox", "LastName": "Platform", "Email": "platform@example.com",
        "Birthday": 0, "Nationality": "FR", "CountryOfResidence": "FR", "PhoneNumber": null, "PhoneNumberCountry": null},
    "KYCLevel": "REGULAR",
    "UserStatus": "ACTIVE",
    "PendingUserAction": null,
    "Tag": null
}') ON CONFLICT DO NOTHING;

-- What strong authentication knows of a user; there is no row until the user was first asked to enrol.
CREATE TABLE IF NOT EXISTS enrolment (
    user_id TEXT PRIMARY KEY REFERENCES user (id),
    enrolled_at INTEGER,
    consented_at INTEGER,
    access_until REAL           -- wallets and movements may be looked at until then
) STRICT;

-- Owners that need not authenticate, because they were created by the calls from before strong authentication.
CREATE TABLE IF NOT EXISTS exemption (
    user_id TEXT PRIMARY KEY REFERENCES user (id)
) STRICT;

-- A hosted session of strong authentication. Its stage is the step that the person is at.
CREATE TABLE IF NOT EXISTS authentication (
    seq INTEGER PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user (id),
    purpose TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    stage TEXT NOT NULL,
    outcome TEXT CHECK (outcome IN ('succeeded', 'failed', 'expired')),
    due_at REAL NOT NULL,
    wrong_codes INTEGER NOT NULL DEFAULT 0,
    phone_end TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX IF NOT EXISTS authentication_due ON authentication (due_at) WHERE outcome IS NULL;

-- What an authority or the provider has closed for a user; without a row nothing is.
CREATE TABLE IF NOT EXISTS block (
    user_id TEXT PRIMARY KEY REFERENCES user (id),
    code TEXT NOT NULL,
    inflows INTEGER NOT NULL,
    outflows INTEGER NOT NULL
) STRICT;

-- A hosted check of an identity. `plan` is what a review ends with at `due_at`; without one a session expires then.
CREATE TABLE IF NOT EXISTS identity_verification (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    token TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user (id),
    status TEXT NOT NULL,
    return_url TEXT NOT NULL,
    tag TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    due_at REAL,
    plan TEXT,
    checks TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX IF NOT EXISTS identity_verification_of_user ON identity_verification (user_id);
CREATE INDEX IF NOT EXISTS identity_verification_due ON identity_verification (due_at) WHERE due_at IS NOT NULL;

-- The session of one owner of a business, after the business was validated.
CREATE TABLE IF NOT EXISTS owner_session (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    verification_id TEXT NOT NULL REFERENCES identity_verification (id),
    user_id TEXT NOT NULL REFERENCES user (id),
    token TEXT NOT NULL UNIQUE,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    email TEXT,
    birth TEXT,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    validated_at INTEGER,
    due_at REAL
) STRICT;
CREATE INDEX IF NOT EXISTS owner_session_of_verification ON owner_session (verification_id);
CREATE INDEX IF NOT EXISTS owner_session_due ON owner_session (due_at) WHERE due_at IS NOT NULL;

-- When a user was last verified, and by when it must be again. Days in UTC.
CREATE TABLE IF NOT EXISTS renewal (
    user_id TEXT PRIMARY KEY REFERENCES user (id),
    verified_on TEXT,
    deadline TEXT,
    told INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A document that proves something of a user. `plan` is what happens to it at `due_at`.
CREATE TABLE IF NOT EXISTS kyc_document (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user (id),
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    tag TEXT,
    created_at INTEGER NOT NULL,
    processed_at INTEGER,
    reason TEXT,
    message TEXT,
    flags TEXT NOT NULL DEFAULT '[]',
    due_at REAL,
    plan TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS kyc_document_of_user ON kyc_document (user_id);
CREATE INDEX IF NOT EXISTS kyc_document_due ON kyc_document (due_at) WHERE due_at IS NOT NULL;

-- What is known of a document's files, which are kept nowhere.
CREATE TABLE IF NOT EXISTS kyc_page (
    seq INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES kyc_document (id),
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS kyc_page_of_document ON kyc_page (document_id);

-- A bank account. One that nobody has to authenticate for becomes usable at `due_at`.
CREATE TABLE IF NOT EXISTS recipient (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user (id),
    status TEXT NOT NULL,
    scope TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at REAL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS recipient_of_user ON recipient (user_id);
CREATE INDEX IF NOT EXISTS recipient_due ON recipient (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE IF NOT EXISTS wallet (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner_id TEXT NOT NULL REFERENCES user (id),
    currency TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS wallet_of_owner ON wallet (owner_id);

-- The registration of a card. The tokeniser stores the test card's number and hands out `registration_data` for it.
CREATE TABLE IF NOT EXISTS card_registration (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user (id),
    currency TEXT NOT NULL,
    card_type TEXT NOT NULL,
    tag TEXT,
    created_at INTEGER NOT NULL,
    access_key TEXT NOT NULL,
    preregistration_data TEXT NOT NULL,
    registration_data TEXT,
    number TEXT,
    expiry TEXT,
    status TEXT NOT NULL DEFAULT 'CREATED',
    result_code TEXT,
    card_id TEXT
) STRICT;

-- A registered card: always one of the test cards.
CREATE TABLE IF NOT EXISTS card (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user (id),
    currency TEXT NOT NULL,
    card_type TEXT NOT NULL,
    number TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    expiry TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    validity TEXT NOT NULL DEFAULT 'UNKNOWN',
    active INTEGER NOT NULL DEFAULT 1,
    tag TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS card_of_user ON card (user_id);
CREATE INDEX IF NOT EXISTS card_of_fingerprint ON card (fingerprint);

-- The holder of a registered card; there is no row if none was told.
CREATE TABLE IF NOT EXISTS card_holder (
    card_id TEXT PRIMARY KEY REFERENCES card (id),
    name TEXT NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS card_validation (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    card_id TEXT NOT NULL REFERENCES card (id),
    result_code TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    tag TEXT,
    body TEXT NOT NULL
) STRICT;

-- A bank account that was registered by the calls from before recipients.
CREATE TABLE IF NOT EXISTS bank_account (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user_id TEXT NOT NULL REFERENCES user (id),
    type TEXT NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    created_at INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS bank_account_of_user ON bank_account (user_id);

-- Every movement of money: pay-ins, transfers, conversions, payouts and refunds.
CREATE TABLE IF NOT EXISTS movement (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    nature TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'CREATED' CHECK (status IN ('CREATED', 'SUCCEEDED', 'FAILED')),
    result_code TEXT,
    author_id TEXT NOT NULL REFERENCES user (id),
    credited_user_id TEXT NOT NULL REFERENCES user (id),
    debited_wallet_id TEXT REFERENCES wallet (id),
    credited_wallet_id TEXT REFERENCES wallet (id),
    parent_id TEXT REFERENCES movement (id),
    currency TEXT NOT NULL,
    debited INTEGER NOT NULL CHECK (debited > 0),
    fees INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    executed_at INTEGER,
    tag TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS movement_of_parent ON movement (parent_id);
CREATE INDEX IF NOT EXISTS movement_of_author ON movement (author_id);
CREATE INDEX IF NOT EXISTS movement_from_wallet ON movement (debited_wallet_id);
CREATE INDEX IF NOT EXISTS movement_to_wallet ON movement (credited_wallet_id);

-- The hosted page of a web card pay-in: where its buyer is.
CREATE TABLE IF NOT EXISTS checkout (
    payin_id TEXT PRIMARY KEY REFERENCES movement (id),
    token TEXT NOT NULL UNIQUE,
    stage TEXT NOT NULL,
    due_at REAL NOT NULL,
    card TEXT,
    wrong_codes INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS checkout_due ON checkout (due_at) WHERE stage <> 'done';

-- A payment that the buyer's bank takes back. Without a contestation it is lost at `due_at`.
CREATE TABLE IF NOT EXISTS dispute (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    payin_id TEXT NOT NULL REFERENCES movement (id),
    repudiation_id TEXT REFERENCES movement (id),
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    status_message TEXT,
    currency TEXT NOT NULL,
    disputed INTEGER NOT NULL,
    contested INTEGER,
    reason TEXT NOT NULL,
    reason_message TEXT,
    result_code TEXT CHECK (result_code IN ('WON', 'LOST', 'VOID')),
    result_message TEXT,
    created_at INTEGER NOT NULL,
    closed_at INTEGER,
    due_at REAL NOT NULL,
    tag TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS dispute_of_payin ON dispute (payin_id);
CREATE INDEX IF NOT EXISTS dispute_due ON dispute (due_at) WHERE closed_at IS NULL;

-- A document that contests a dispute.
CREATE TABLE IF NOT EXISTS dispute_document (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    dispute_id TEXT NOT NULL REFERENCES dispute (id),
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    tag TEXT,
    created_at INTEGER NOT NULL,
    processed_at INTEGER,
    reason TEXT,
    message TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS dispute_document_of_dispute ON dispute_document (dispute_id);

-- What is known of its files, which are kept nowhere.
CREATE TABLE IF NOT EXISTS dispute_page (
    seq INTEGER PRIMARY KEY,
    document_id TEXT NOT NULL REFERENCES dispute_document (id),
    media_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL
) STRICT;

-- Objects that are stored as they are told, such as mandates and reports. At `due_at` one ends by itself.
CREATE TABLE IF NOT EXISTS resource (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at REAL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS resource_of_kind ON resource (kind, created_at);
CREATE INDEX IF NOT EXISTS resource_due ON resource (kind, due_at) WHERE due_at IS NOT NULL;

-- When an open payout ends, with which result code, and whether it holds its money until then.
CREATE TABLE IF NOT EXISTS payout_end (
    payout_id TEXT PRIMARY KEY REFERENCES movement (id),
    due_at REAL NOT NULL,
    result_code TEXT NOT NULL,
    holds INTEGER NOT NULL
) STRICT;

-- A payout to a closed account: when it comes back if it succeeds.
CREATE TABLE IF NOT EXISTS payout_return (
    payout_id TEXT PRIMARY KEY REFERENCES movement (id),
    due_at REAL NOT NULL
) STRICT;

-- Double entry, written once: the entries of one movement sum to zero, and no movement is entered twice.
CREATE TABLE IF NOT EXISTS posting (
    seq INTEGER PRIMARY KEY,
    movement_id TEXT NOT NULL REFERENCES movement (id),
    account TEXT NOT NULL,
    currency TEXT NOT NULL,
    amount INTEGER NOT NULL,
    posted_at INTEGER NOT NULL,
    UNIQUE (movement_id, account, currency)
) STRICT;
CREATE INDEX IF NOT EXISTS posting_of_account ON posting (account, currency, amount);
CREATE TRIGGER IF NOT EXISTS posting_never_changed BEFORE UPDATE ON posting
BEGIN SELECT RAISE(ABORT, 'postings are never changed'); END;
CREATE TRIGGER IF NOT EXISTS posting_never_deleted BEFORE DELETE ON posting
BEGIN SELECT RAISE(ABORT, 'postings are never deleted'); END;

CREATE TABLE IF NOT EXISTS hook (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    event_type TEXT NOT NULL UNIQUE,
    url TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'ENABLED',
    validity TEXT NOT NULL DEFAULT 'UNKNOWN',
    tag TEXT,
    email TEXT,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS event (
    seq INTEGER PRIMARY KEY,
    type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    date INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS event_of_type ON event (type, date);

CREATE TABLE IF NOT EXISTS delivery (
    id INTEGER PRIMARY KEY,
    hook_id TEXT NOT NULL REFERENCES hook (id),
    event_type TEXT NOT NULL,
    resource_id TEXT NOT NULL,
    date INTEGER NOT NULL,
    due_at REAL,                -- null while held until a flush
    claimed_until REAL NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'given_up')),
    outcome TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS delivery_due ON delivery (due_at, id) WHERE state = 'pending';
