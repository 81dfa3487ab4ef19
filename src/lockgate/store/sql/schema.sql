-- The schema of a Lockgate store, version 3. Stores of an earlier version become this by the numbered migrations.
--
-- Tables of a run have exactly the fields of the row records in model/records.py, in their order, so that a row
-- is read as `table.*`. Times are integer epoch milliseconds, durations integer milliseconds, hashes lower-case
-- hex SHA-256. The run is the only aggregate: every change to what it owns is one or more rows of `events`.
-- Outside events, fold and audit: claim columns of run_queue, run_workers, attempt_output, commands, blobs,
-- policies, host_state, meta.
-- What is written with every step spells its vocabularies with OR: SQLite makes a temporary index of an IN list of
-- three or more each time it checks a row, which was a seventh of a step.

CREATE TABLE meta (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    store_id TEXT NOT NULL,
    shared_group TEXT,
    created_at INTEGER NOT NULL
) STRICT;

-- Stored values by the hash of exactly their bytes; the media type belongs to the referring column.
CREATE TABLE blobs (
    hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
    content BLOB NOT NULL
) STRICT;

CREATE TABLE definitions (
    definition_digest TEXT PRIMARY KEY CHECK (length(definition_digest) = 64),
    name TEXT NOT NULL,
    document BLOB NOT NULL
) STRICT;

CREATE TABLE runs (
    run_id TEXT PRIMARY KEY CHECK (length(run_id) BETWEEN 1 AND 200),
    workflow TEXT NOT NULL,
    definition_digest TEXT NOT NULL REFERENCES definitions (definition_digest),
    workflow_ref TEXT NOT NULL,
    project_dir TEXT NOT NULL,
    title TEXT,
    status TEXT NOT NULL
        CHECK (status = 'queued' OR status = 'running' OR status = 'waiting' OR status = 'completed'
            OR status = 'failed' OR status = 'timed_out' OR status = 'cancelled'),
    paused INTEGER NOT NULL CHECK (paused IN (0, 1)),
    revision INTEGER NOT NULL CHECK (revision > 0),
    input_hash TEXT NOT NULL,
    output_hash TEXT,
    error_hash TEXT,
    error_code TEXT,
    error_summary TEXT,
    parent_run_id TEXT,
    parent_revision INTEGER,
    root_run_id TEXT NOT NULL,
    restart_number INTEGER NOT NULL CHECK (restart_number >= 0),
    started_by TEXT NOT NULL,
    started_by_uid INTEGER NOT NULL,
    active_ms INTEGER NOT NULL CHECK (active_ms >= 0),
    waiting_ms INTEGER NOT NULL CHECK (waiting_ms >= 0),
    clock TEXT NOT NULL
        CHECK (clock = 'active' OR clock = 'person' OR clock = 'agent' OR clock = 'paused' OR clock = 'idle'),
    clock_since INTEGER NOT NULL,
    steps INTEGER NOT NULL CHECK (steps >= 0),
    chain_head TEXT NOT NULL CHECK (length(chain_head) = 64),
    last_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    CHECK ((parent_run_id IS NULL) = (parent_revision IS NULL)),
    CHECK ((parent_run_id IS NULL) = (restart_number = 0)),
    CHECK ((finished_at IS NULL) = (status = 'queued' OR status = 'running' OR status = 'waiting'))
) STRICT;

CREATE INDEX runs_newest ON runs (created_at);
CREATE INDEX runs_by_status ON runs (status, created_at);
CREATE INDEX runs_by_workflow ON runs (workflow, created_at);
CREATE INDEX runs_by_short_id ON runs (substr(run_id, -8));
CREATE UNIQUE INDEX runs_one_restart ON runs (parent_run_id) WHERE parent_run_id IS NOT NULL;

CREATE TABLE run_sources (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    sources_hash TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Scheduling, and from token_hash on the claim: present as a whole or not at all.
CREATE TABLE run_queue (
    run_id TEXT PRIMARY KEY REFERENCES runs (run_id) ON DELETE CASCADE,
    status TEXT NOT NULL CHECK (status IN ('queued', 'starting', 'running', 'parked', 'done')),
    available_at INTEGER NOT NULL,
    losses INTEGER NOT NULL CHECK (losses >= 0),
    error_code TEXT CHECK (error_code IN ('worker_lost', 'source_changed', 'load_failed', 'effect_ambiguous')),
    generation INTEGER NOT NULL CHECK (generation >= 0),
    token_hash TEXT,
    owner_kind TEXT CHECK (owner_kind IN ('host', 'process')),
    owner_id TEXT,
    host_epoch INTEGER,
    boot_id TEXT,
    heartbeat_mono INTEGER,
    heartbeat_at INTEGER,
    CHECK ((status IN ('starting', 'running')) = (token_hash IS NOT NULL)),
    CHECK ((token_hash IS NULL) = (owner_kind IS NULL)),
    CHECK ((token_hash IS NULL) = (owner_id IS NULL)),
    CHECK ((token_hash IS NULL) = (boot_id IS NULL)),
    CHECK ((token_hash IS NULL) = (heartbeat_mono IS NULL)),
    CHECK ((token_hash IS NULL) = (heartbeat_at IS NULL)),
    CHECK (error_code IS NULL OR status = 'parked')
) STRICT, WITHOUT ROWID;

CREATE INDEX run_queue_claimable ON run_queue (available_at) WHERE status = 'queued';
CREATE INDEX run_queue_claimed ON run_queue (owner_kind, owner_id) WHERE token_hash IS NOT NULL;

-- event_seq is never used again, or a follower would miss an event; the events of a pruned run leave a tombstone,
-- so run_id refers to nothing.
CREATE TABLE events (
    event_seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    attempt_id TEXT,
    payload TEXT NOT NULL,
    prev_hash TEXT,
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    CHECK ((seq = 1) = (prev_hash IS NULL)),
    UNIQUE (run_id, seq)
) STRICT;

CREATE TABLE node_attempts (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL CHECK (ordinal > 0),
    attempt_id TEXT NOT NULL UNIQUE,
    workflow TEXT NOT NULL,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL
        CHECK (kind = 'agent' OR kind = 'compute' OR kind = 'action' OR kind = 'shell' OR kind = 'notify'
            OR kind = 'checkpoint' OR kind = 'human_decision'),
    attempt_number INTEGER NOT NULL CHECK (attempt_number > 0),
    visit INTEGER NOT NULL CHECK (visit > 0),
    status TEXT NOT NULL
        CHECK (status = 'running' OR status = 'waiting' OR status = 'interrupted' OR status = 'completed'
            OR status = 'failed' OR status = 'timed_out' OR status = 'cancelled'),
    timeout_ms INTEGER CHECK (timeout_ms >= 0),
    active_ms INTEGER NOT NULL CHECK (active_ms >= 0),
    step_index INTEGER CHECK (step_index >= 0),
    outcome TEXT CHECK (outcome = 'ok' OR outcome = 'failed' OR outcome = 'timed_out' OR outcome = 'cancelled'),
    switch_value TEXT,
    prompt_hash TEXT,
    output_hash TEXT,
    error_hash TEXT,
    error_summary TEXT,
    started_at INTEGER NOT NULL,
    finished_at INTEGER, settings_change INTEGER CHECK (settings_change >= 0), settings_hash TEXT,
    PRIMARY KEY (run_id, ordinal),
    UNIQUE (run_id, node_id, attempt_number),
    CHECK ((step_index IS NULL) = (outcome IS NULL)),
    CHECK ((finished_at IS NULL) = (status = 'running' OR status = 'waiting' OR status = 'interrupted'))
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX node_attempts_one_active ON node_attempts (run_id) WHERE finished_at IS NULL;

CREATE TABLE attempt_active_intervals (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    attempt_id TEXT NOT NULL,
    interval_number INTEGER NOT NULL CHECK (interval_number > 0),
    boot_id TEXT NOT NULL,
    mono_ms INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    elapsed_ms INTEGER NOT NULL CHECK (elapsed_ms >= 0),
    PRIMARY KEY (run_id, attempt_id, interval_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE workflow_updates (
    update_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    attempt_id TEXT NOT NULL,
    update_seq INTEGER NOT NULL CHECK (update_seq > 0),
    update_type TEXT NOT NULL,
    update_key TEXT NOT NULL,
    data_hash TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    UNIQUE (run_id, attempt_id, update_seq)
) STRICT;

CREATE INDEX workflow_updates_newest ON workflow_updates (attempt_id, update_type, update_key, update_seq DESC);

CREATE TABLE requests (
    request_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    attempt_id TEXT NOT NULL UNIQUE,
    node_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('agent', 'checkpoint', 'decision')),
    status TEXT NOT NULL CHECK (status IN ('pending', 'settled', 'cancelled')),
    digest TEXT NOT NULL CHECK (length(digest) = 64),
    contract_hash TEXT NOT NULL,
    policy TEXT,
    deadline_at INTEGER,
    accepted_submission_id TEXT,
    output_hash TEXT,
    created_at INTEGER NOT NULL,
    settled_at INTEGER,
    consumed_at INTEGER,
    CHECK ((status = 'settled') = (accepted_submission_id IS NOT NULL)),
    CHECK ((status = 'settled') = (settled_at IS NOT NULL)),
    CHECK (consumed_at IS NULL OR status = 'settled')
) STRICT;

CREATE UNIQUE INDEX requests_one_pending ON requests (run_id) WHERE status = 'pending';
CREATE INDEX requests_of_run ON requests (run_id, created_at);
CREATE INDEX requests_pending ON requests (created_at) WHERE status = 'pending';
CREATE INDEX requests_due ON requests (deadline_at) WHERE status = 'pending' AND deadline_at IS NOT NULL;
CREATE INDEX requests_answered ON requests (settled_at) WHERE status = 'settled' AND consumed_at IS NULL;

CREATE TABLE submissions (
    submission_id TEXT PRIMARY KEY,
    request_id TEXT NOT NULL REFERENCES requests (request_id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    source TEXT NOT NULL,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('human', 'user', 'worker', 'host', 'policy')),
    actor_id TEXT NOT NULL,
    channel TEXT,
    payload_hash TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('accepted', 'already_resolved', 'expired', 'run_closed')),
    winner TEXT,
    submitted_at INTEGER NOT NULL
) STRICT;

CREATE INDEX submissions_of_request ON submissions (request_id, submitted_at);

CREATE TABLE human_decisions (
    decision_id TEXT PRIMARY KEY REFERENCES requests (request_id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    attempt_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    audience TEXT NOT NULL,
    title TEXT NOT NULL,
    subject_hash TEXT NOT NULL,
    presentation_hash TEXT NOT NULL,
    choices_hash TEXT NOT NULL,
    request_digest TEXT NOT NULL UNIQUE CHECK (length(request_digest) = 64),
    deadline_at INTEGER,
    default_choice TEXT,
    created_at INTEGER NOT NULL,
    CHECK ((deadline_at IS NULL) = (default_choice IS NULL))
) STRICT;

-- The primary key is the one-winner rule.
CREATE TABLE human_decision_resolutions (
    decision_id TEXT PRIMARY KEY REFERENCES human_decisions (decision_id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    provenance TEXT NOT NULL CHECK (provenance IN ('human', 'timeout_policy', 'explicit_cancel')),
    choice TEXT,
    response_hash TEXT,
    submission_id TEXT,
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('human', 'user', 'worker', 'host', 'policy')),
    actor_id TEXT NOT NULL,
    channel TEXT,
    request_digest TEXT NOT NULL,
    resolved_at INTEGER NOT NULL,
    CHECK ((provenance = 'explicit_cancel') = (choice IS NULL)),
    CHECK ((choice IS NULL) = (response_hash IS NULL))
) STRICT;

CREATE INDEX human_decision_resolutions_newest ON human_decision_resolutions (resolved_at DESC);

CREATE TABLE effects (
    effect_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    attempt_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    visit INTEGER NOT NULL CHECK (visit > 0),
    effect_type TEXT NOT NULL,
    recovery TEXT NOT NULL CHECK (recovery IN ('idempotent', 'verified', 'manual')),
    status TEXT NOT NULL CHECK (status IN ('applying', 'applied', 'rejected', 'ambiguous')),
    payload_hash TEXT,
    attempt_count INTEGER NOT NULL CHECK (attempt_count >= 0),
    result_hash TEXT,
    error_hash TEXT,
    resolved_by TEXT,
    resolved_at INTEGER,
    created_at INTEGER NOT NULL,
    settled_at INTEGER,
    CHECK ((resolved_by IS NULL) = (resolved_at IS NULL)),
    UNIQUE (run_id, node_id, visit, effect_type)
) STRICT;

CREATE INDEX effects_unsettled ON effects (run_id) WHERE status IN ('applying', 'ambiguous');

CREATE TABLE effect_attempts (
    effect_id TEXT NOT NULL REFERENCES effects (effect_id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    attempt_number INTEGER NOT NULL CHECK (attempt_number > 0),
    attempt_id TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER,
    outcome TEXT,
    PRIMARY KEY (effect_id, attempt_number)
) STRICT, WITHOUT ROWID;

-- A key is unique in the store: the same key and fingerprint get the stored receipt again.
CREATE TABLE commands (
    key TEXT PRIMARY KEY,
    command TEXT NOT NULL,
    fingerprint TEXT NOT NULL CHECK (length(fingerprint) = 64),
    actor TEXT NOT NULL,
    run_id TEXT,
    receipt TEXT NOT NULL,
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX commands_of_run ON commands (run_id, at);

CREATE TABLE policies (
    audience TEXT PRIMARY KEY,
    users TEXT,
    self_approval INTEGER NOT NULL CHECK (self_approval IN (0, 1)),
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL
) STRICT;

CREATE TABLE host_state (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL CHECK (epoch >= 0),
    host_id TEXT,
    pid INTEGER,
    boot_id TEXT,
    process_start TEXT,
    started_at INTEGER,
    heartbeat_at INTEGER,
    heartbeat_mono INTEGER,
    capacity INTEGER
) STRICT;

CREATE TABLE run_workers (
    worker_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    generation INTEGER NOT NULL CHECK (generation > 0),
    host_epoch INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    pid INTEGER,
    process_start TEXT,
    status TEXT NOT NULL CHECK (status IN ('starting', 'ready', 'exited', 'crashed', 'stopped', 'orphaned')),
    started_at INTEGER NOT NULL,
    ready_at INTEGER,
    finished_at INTEGER,
    exit_code INTEGER,
    signal INTEGER,
    stderr_tail TEXT NOT NULL,
    UNIQUE (run_id, generation)
) STRICT;

CREATE INDEX run_workers_alive ON run_workers (host_epoch) WHERE status IN ('starting', 'ready');

-- start_at is the offset of the chunk in all that the attempt wrote: what is missing between two rows was dropped.
CREATE TABLE attempt_output (
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    attempt_id TEXT NOT NULL,
    chunk INTEGER NOT NULL CHECK (chunk >= 0),
    stream TEXT NOT NULL CHECK (stream IN ('stdout', 'stderr')),
    start_at INTEGER NOT NULL CHECK (start_at >= 0),
    at INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (run_id, attempt_id, chunk)
) STRICT;

CREATE TABLE workflow_settings (
    scope_id TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES runs (run_id) ON DELETE CASCADE,
    mount_path TEXT NOT NULL,
    invocation INTEGER NOT NULL CHECK (invocation > 0),
    initial_hash TEXT NOT NULL,
    current_hash TEXT NOT NULL,
    change_number INTEGER NOT NULL CHECK (change_number >= 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (run_id, mount_path, invocation)
) STRICT;

CREATE TABLE workflow_setting_changes (
    change_id TEXT PRIMARY KEY,
    scope_id TEXT NOT NULL REFERENCES workflow_settings (scope_id) ON DELETE CASCADE,
    run_id TEXT NOT NULL,
    change_number INTEGER NOT NULL CHECK (change_number > 0),
    actor_kind TEXT NOT NULL CHECK (actor_kind IN ('human', 'user', 'worker', 'host', 'policy')),
    actor_id TEXT NOT NULL,
    source TEXT NOT NULL,
    patch_hash TEXT NOT NULL,
    before_hash TEXT NOT NULL,
    after_hash TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    UNIQUE (scope_id, change_number)
) STRICT;

INSERT INTO host_state (id, epoch) VALUES (1, 0);
