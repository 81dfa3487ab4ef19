-- Version 2: live settings of a run, their changes, and what each attempt saw of them.

ALTER TABLE node_attempts ADD COLUMN settings_change INTEGER CHECK (settings_change >= 0);
ALTER TABLE node_attempts ADD COLUMN settings_hash TEXT;

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
