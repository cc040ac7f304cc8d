/**
 * The schema of the SQLite store, one entry a version. An entry is never edited after a release: a change is a new
 * entry at the end, and a file that knows a higher version than this list is refused.
 */

/** What later versions added is asked for by writers alone, so files from this version on can be looked at as they are. */
export const oldestReadable = 1;

export type Migration = { readonly version: number; readonly statements: readonly string[] };

/**
 * The record itself is JSON in `body`; the other columns repeat what is searched for. Moments that decide (when a
 * record blocks, is due, may be forgotten) come from the pure functions in `claim/` and do not depend on the clock.
 * Answers and payloads lie apart, so that a transition never rewrites them.
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      `CREATE TABLE claims (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,
        fingerprint TEXT NOT NULL,
        payer TEXT NOT NULL,
        pay_to TEXT NOT NULL,
        network TEXT NOT NULL,
        flow TEXT NOT NULL,
        money TEXT NOT NULL,
        work TEXT NOT NULL,
        lease_until_ms INTEGER NOT NULL,
        created_ms INTEGER NOT NULL,
        blocks_from_ms INTEGER,
        due_from_ms INTEGER,
        forget_at_ms INTEGER,
        answer_forget_at_ms INTEGER,
        body TEXT NOT NULL
      ) STRICT`,
      `CREATE INDEX claims_blocking
        ON claims (fingerprint, payer, pay_to, network, created_ms, key) WHERE blocks_from_ms IS NOT NULL`,
      'CREATE INDEX claims_due ON claims (created_ms, key, due_from_ms) WHERE due_from_ms IS NOT NULL',
      'CREATE INDEX claims_expired ON claims (forget_at_ms) WHERE forget_at_ms IS NOT NULL',
      'CREATE INDEX claims_stale ON claims (answer_forget_at_ms) WHERE answer_forget_at_ms IS NOT NULL',
      'CREATE INDEX claims_money ON claims (money, key)',
      'CREATE TABLE answers (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT',
      'CREATE TABLE payloads (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT',
      'CREATE TABLE tally (id INTEGER PRIMARY KEY CHECK (id = 1), records INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT',
      'INSERT INTO tally (id, records, bytes) VALUES (1, 0, 0)',
    ],
  },
  {
    // Payment identifiers: `alias` is `claimedAlias`, so the index holds only records that have a claim to theirs.
    version: 2,
    statements: [
      'ALTER TABLE claims ADD COLUMN alias TEXT',
      'CREATE INDEX claims_alias ON claims (alias, created_ms, key) WHERE alias IS NOT NULL',
    ],
  },
  {
    // What one payer has run up (`exposedPayer`, `openUntilMs`), and settlements that are looked at again (`proofFromMs`).
    version: 3,
    statements: [
      'ALTER TABLE claims ADD COLUMN exposed TEXT',
      'ALTER TABLE claims ADD COLUMN open_until_ms INTEGER',
      'ALTER TABLE claims ADD COLUMN proof_from_ms INTEGER',
      "UPDATE claims SET proof_from_ms = 0 WHERE money = 'settled'",
      'CREATE INDEX claims_exposed ON claims (exposed, open_until_ms) WHERE exposed IS NOT NULL',
      'CREATE INDEX claims_unproven ON claims (proof_from_ms, created_ms, key) WHERE proof_from_ms IS NOT NULL',
    ],
  },
];
