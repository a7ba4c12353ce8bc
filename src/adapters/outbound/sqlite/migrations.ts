import type Database from 'better-sqlite3';
import { StoreOpenError } from './store-open-error.ts';

/** `HOLD`, in the header of the file: so that another program's database is never taken for ours. */
export const applicationId = 0x484f4c44;

/**
 * The tables and columns that DESIGN.md calls public keep their names and meaning for ever. Instants are ISO 8601 in
 * UTC, columns with structure are JSON text. In a row the large columns come last: what is read often is then read
 * without them.
 */
const initialSchema = `
  CREATE TABLE runtime_epoch (
    singleton INTEGER PRIMARY KEY CHECK (singleton = 1),
    epoch INTEGER NOT NULL,
    instance_id TEXT,
    store_id TEXT NOT NULL,
    started_at TEXT
  ) STRICT;

  -- One row for each transcript. What belongs to the session as a whole is on the root row, where id = root_session_id.
  CREATE TABLE sessions (
    number INTEGER PRIMARY KEY, -- the order of creation, and the cursor of lists
    id TEXT NOT NULL UNIQUE,
    root_session_id TEXT NOT NULL REFERENCES sessions (id),
    parent_session_id TEXT REFERENCES sessions (id),
    source TEXT NOT NULL,
    title TEXT,
    model TEXT NOT NULL,
    provider TEXT NOT NULL,
    base_url TEXT,
    cwd TEXT,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    end_reason TEXT,
    message_count INTEGER NOT NULL DEFAULT 0, -- active messages of this transcript
    principal_id TEXT NOT NULL,
    request_id TEXT,
    request_digest TEXT,
    revision INTEGER,
    execution_generation INTEGER,
    hold_reason TEXT,
    hold_until TEXT,
    hold_by TEXT,
    hold_at TEXT,
    tip_session_id TEXT,
    transcript_count INTEGER,
    compression_count INTEGER,
    breaker_failures INTEGER,
    breaker_open_until TEXT,
    usage_anchor_tokens INTEGER,
    usage_anchor_message_id INTEGER,
    toolsets TEXT NOT NULL,
    tools TEXT NOT NULL DEFAULT '[]', -- what the toolsets stood for when the session was made
    system_prompt_tokens INTEGER,
    system_prompt TEXT
  ) STRICT;
  CREATE UNIQUE INDEX sessions_by_request ON sessions (principal_id, request_id) WHERE request_id IS NOT NULL;
  CREATE INDEX sessions_by_principal ON sessions (principal_id) WHERE parent_session_id IS NULL;

  -- AUTOINCREMENT keeps the highest id that was ever used, also when its row is gone.
  CREATE TABLE messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions (id), -- the transcript
    role TEXT NOT NULL,
    kind TEXT NOT NULL,
    active INTEGER NOT NULL,
    origin_id INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    admission_id TEXT,
    tool_call_id TEXT,
    tool_call_ids TEXT, -- the ids in tool_calls, to be read without their arguments
    partial INTEGER NOT NULL,
    finish_reason TEXT,
    usage TEXT,
    at TEXT NOT NULL,
    content TEXT NOT NULL,
    tool_calls TEXT,
    parts TEXT
  ) STRICT;
  CREATE INDEX messages_of_transcript ON messages (session_id) WHERE active = 1;

  CREATE TABLE session_admissions (
    seq INTEGER PRIMARY KEY, -- of the whole store, in order of commit, never used twice
    admission_id TEXT NOT NULL UNIQUE,
    request_id TEXT NOT NULL, -- the client's input_id
    target_session_id TEXT NOT NULL REFERENCES sessions (id), -- always the root
    principal_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    status TEXT NOT NULL,
    outcome TEXT,
    delivery TEXT NOT NULL,
    owner_epoch INTEGER,
    execution_generation INTEGER,
    boundary TEXT NOT NULL,
    step INTEGER NOT NULL,
    requeue_count INTEGER NOT NULL,
    prompt_message_id INTEGER,
    stop_requested_by TEXT,
    stop_requested_at TEXT,
    accepted_at TEXT NOT NULL,
    started_at TEXT,
    settled_at TEXT,
    request_digest TEXT NOT NULL,
    payload_digest TEXT NOT NULL,
    retried_by TEXT,
    resolution TEXT,
    evidence TEXT,
    failure TEXT,
    payload TEXT
  ) STRICT;
  -- One admission for each input id of a principal in a session. The id comes first: where clients use time-ordered
  -- ids the fresh entries of all sessions then share a page, which halves what a submit writes.
  CREATE UNIQUE INDEX admissions_by_request ON session_admissions (request_id, target_session_id, principal_id);
  -- These hold open admissions only, so that finding them costs what they are and not what has ever been.
  CREATE INDEX admissions_open ON session_admissions (target_session_id, position, status) WHERE status <> 'terminal';
  CREATE INDEX admissions_unknown ON session_admissions (seq) WHERE status = 'unknown';
  CREATE UNIQUE INDEX admissions_occupant ON session_admissions (target_session_id)
    WHERE status IN ('started', 'unknown');
  -- Written when an admission ends, so that a submit doesn't pay for it.
  CREATE INDEX admissions_settled ON session_admissions (target_session_id, position) WHERE status = 'terminal';

  CREATE TABLE session_events (
    session_id TEXT NOT NULL REFERENCES sessions (id),
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    at TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    admission_id TEXT,
    execution_generation INTEGER,
    payload TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE compressions (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    parent_transcript TEXT NOT NULL REFERENCES sessions (id),
    child_transcript TEXT REFERENCES sessions (id),
    trigger TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('started', 'completed', 'failed')),
    tokens_before INTEGER NOT NULL,
    tokens_after INTEGER,
    model TEXT,
    usage TEXT,
    failure TEXT,
    admission_id TEXT,
    epoch INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT
  ) STRICT;
  CREATE INDEX compressions_of_session ON compressions (session_id);
  CREATE UNIQUE INDEX compressions_open ON compressions (session_id) WHERE status = 'started';

  CREATE TABLE tool_calls (
    id INTEGER PRIMARY KEY,
    call_id TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions (id),
    admission_id TEXT NOT NULL,
    message_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT,
    arguments TEXT NOT NULL,
    UNIQUE (message_id, call_id)
  ) STRICT;
  CREATE INDEX tool_calls_running ON tool_calls (session_id) WHERE status = 'started';

  PRAGMA application_id = ${String(applicationId)};
`;

/**
 * Counts the commits of the store, which the high-water mark remembers, and the events that they have written, which a
 * check counts again. The row never moves to another page.
 */
const tally = `
  ALTER TABLE runtime_epoch ADD COLUMN commits INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runtime_epoch ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
  UPDATE runtime_epoch SET events = (SELECT count(*) FROM session_events);
`;

/** Requests for approval, one row for each, for ever. A row without a decision is open. */
const approvals = `
  CREATE TABLE approvals (
    number INTEGER PRIMARY KEY, -- the order of the requests
    approval_id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL REFERENCES sessions (id), -- always the root
    admission_id TEXT NOT NULL,
    execution_generation INTEGER NOT NULL,
    message_id INTEGER NOT NULL, -- the message that asks for the call
    call_id TEXT NOT NULL,
    name TEXT NOT NULL,
    options TEXT NOT NULL,
    requested_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    decision TEXT,
    decided_by TEXT,
    reason TEXT,
    decided_at TEXT
  ) STRICT;
  -- Both hold open requests only.
  CREATE INDEX approvals_open ON approvals (session_id) WHERE decision IS NULL;
  CREATE INDEX approvals_waiting ON approvals (decision) WHERE decision IS NULL;
`;

/** What a steer is meant for, what becomes of it when that turn is over, and the admission into whose turn it went. */
const steers = `
  ALTER TABLE session_admissions ADD COLUMN steers_generation INTEGER;
  ALTER TABLE session_admissions ADD COLUMN if_over TEXT;
  ALTER TABLE session_admissions ADD COLUMN merged_into TEXT;
`;

/** Which model gave an answer: `{provider, model}`. */
const answeredBy = `ALTER TABLE messages ADD COLUMN answered_by TEXT;`;

/**
 * What compressions need to remember: why the breaker is open, who answered last, the requests by hand, and the windows
 * that providers have stated.
 */
const trustedCompression = `
  ALTER TABLE sessions ADD COLUMN breaker_reason TEXT;
  ALTER TABLE sessions ADD COLUMN breaker_recent TEXT; -- generations of the newest automatic compressions
  ALTER TABLE sessions ADD COLUMN answered_provider TEXT; -- the model that gave the newest answer
  ALTER TABLE sessions ADD COLUMN answered_model TEXT;
  ALTER TABLE sessions ADD COLUMN answered_base_url TEXT;
  CREATE INDEX sessions_breaker ON sessions (breaker_open_until) WHERE breaker_open_until IS NOT NULL;

  ALTER TABLE compressions ADD COLUMN execution_generation INTEGER;
  ALTER TABLE compressions ADD COLUMN principal_id TEXT;
  ALTER TABLE compressions ADD COLUMN request_id TEXT; -- of a compression by hand
  ALTER TABLE compressions ADD COLUMN request_digest TEXT;
  CREATE UNIQUE INDEX compressions_by_request ON compressions (session_id, principal_id, request_id)
    WHERE request_id IS NOT NULL;

  CREATE TABLE learnt_windows (
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    base_url TEXT NOT NULL, -- empty: the provider's own address
    window_tokens INTEGER NOT NULL,
    learnt_at TEXT NOT NULL,
    PRIMARY KEY (provider, model, base_url)
  ) STRICT, WITHOUT ROWID;
`;

/** What an update sets, where a fork comes from, and what a deletion leaves. On root rows, as all that is the session's. */
const sessionLife = `
  ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN deleted_at TEXT;
  ALTER TABLE sessions ADD COLUMN forked_from TEXT; -- the session's id
  ALTER TABLE sessions ADD COLUMN forked_from_message_id INTEGER;

  CREATE INDEX approvals_by_session ON approvals (session_id);

  -- In order, so that what is derived from the store can follow.
  CREATE TABLE session_deletions (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES sessions (id)
  ) STRICT;
`;

/** The holds that end by themselves are found at a start without a look at every session. */
const timedHolds = `
  CREATE INDEX sessions_held_until ON sessions (id, hold_until) WHERE hold_until IS NOT NULL;
`;

/** Step n leads from `user_version` n to n + 1. A step that was released never changes. */
const migrations: readonly string[] = [
  initialSchema,
  tally,
  approvals,
  steers,
  answeredBy,
  trustedCompression,
  sessionLife,
  timedHolds,
];

export const schemaVersion = migrations.length;

/** A file of a newer program is refused before anything of it is changed. */
export function refuseNewerSchema(db: Database.Database, path: string): void {
  const found = versionOf(db);
  if (found <= schemaVersion) return;
  throw new StoreOpenError(
    'newer_schema',
    `${path} has schema version ${String(found)}, and this program knows versions up to ${String(schemaVersion)}: ` +
      'a newer Holdfast has written it. Start that version, or restore a backup that this one made.',
  );
}

/**
 * Brings the file to this program's schema, each step in a transaction of its own: a kill leaves the old or the new
 * version, never one between.
 */
export function migrate(db: Database.Database, steps: readonly string[] = migrations): void {
  for (let version = versionOf(db); version < steps.length; version += 1) {
    const step = db.transaction(() => {
      db.exec(steps[version] ?? '');
      db.pragma(`user_version = ${String(version + 1)}`);
    });
    step.immediate();
  }
}

function versionOf(db: Database.Database): number {
  return Number(db.pragma('user_version', { simple: true }));
}
