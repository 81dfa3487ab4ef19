-- insert_attempt: a new attempt
INSERT INTO node_attempts (run_id, ordinal, attempt_id, workflow, node_id, kind, attempt_number, visit, status, timeout_ms,
    active_ms, step_index, outcome, switch_value, prompt_hash, output_hash, error_hash, error_summary, started_at, finished_at,
    settings_change, settings_hash)
VALUES (:run_id, :ordinal, :attempt_id, :workflow, :node_id, :kind, :attempt_number, :visit, :status, :timeout_ms,
    :active_ms, :step_index, :outcome, :switch_value, :prompt_hash, :output_hash, :error_hash, :error_summary, :started_at,
    :finished_at, :settings_change, :settings_hash);

-- change_attempt: an attempt as it has become; what it is never changes
UPDATE node_attempts
SET status = :status, timeout_ms = :timeout_ms, active_ms = :active_ms, step_index = :step_index, outcome = :outcome,
    switch_value = :switch_value, prompt_hash = :prompt_hash, output_hash = :output_hash, error_hash = :error_hash,
    error_summary = :error_summary, finished_at = :finished_at, settings_change = :settings_change,
    settings_hash = :settings_hash
WHERE run_id = :run_id AND ordinal = :ordinal AND attempt_id = :attempt_id;

-- open_interval: working time begins
INSERT INTO attempt_active_intervals (run_id, attempt_id, interval_number, boot_id, mono_ms, started_at, ended_at, elapsed_ms)
VALUES (:run_id, :attempt_id, :interval_number, :boot_id, :mono_ms, :started_at, :ended_at, :elapsed_ms);

-- close_interval: working time ends
UPDATE attempt_active_intervals SET ended_at = :ended_at, elapsed_ms = :elapsed_ms
WHERE run_id = :run_id AND attempt_id = :attempt_id AND interval_number = :interval_number AND ended_at IS NULL;

-- save_update: a published update
INSERT INTO workflow_updates (update_id, run_id, attempt_id, update_seq, update_type, update_key, data_hash, recorded_at)
VALUES (:update_id, :run_id, :attempt_id, :update_seq, :update_type, :update_key, :data_hash, :recorded_at);

-- has_attempt: whether any run has an attempt of this id
SELECT 1 FROM node_attempts WHERE attempt_id = :attempt_id;

-- newest_of_node: the newest attempt of a node in a run, and whether it became a step
SELECT attempt_number, visit, step_index IS NOT NULL FROM node_attempts
WHERE run_id = :run_id AND node_id = :node_id ORDER BY attempt_number DESC LIMIT 1;

-- newest_update: how many updates an attempt has published, and whether any attempt has one of this id
SELECT (SELECT update_seq FROM workflow_updates WHERE run_id = :run_id AND attempt_id = :attempt_id
    ORDER BY update_seq DESC LIMIT 1),
    EXISTS (SELECT 1 FROM workflow_updates WHERE update_id = :update_id);

-- has_update_pair: whether an attempt has published this (type, key) before
SELECT 1 FROM workflow_updates
WHERE attempt_id = :attempt_id AND update_type = :update_type AND update_key = :update_key LIMIT 1;

-- update_pairs: how many (type, key) pairs an attempt has published
SELECT count(*) FROM (
    SELECT DISTINCT update_type, update_key FROM workflow_updates WHERE attempt_id = :attempt_id);

-- latest_of_node: the newest finished attempt of a node
SELECT a.* FROM node_attempts a
WHERE a.run_id = :run_id AND a.node_id = :node_id AND a.step_index IS NOT NULL
ORDER BY a.attempt_number DESC LIMIT 1;

-- entered: the invocation of an include that a run entered last, and the settings that this has
SELECT s.*, a.visit, a.step_index FROM node_attempts a
LEFT JOIN workflow_settings s ON s.run_id = a.run_id AND s.mount_path = a.node_id AND s.invocation = a.visit
WHERE a.run_id = :run_id AND a.node_id = :mount AND a.step_index IS NOT NULL
ORDER BY a.attempt_number DESC LIMIT 1;

-- visits_before: the visits of a node inside an include before this was entered last
SELECT a.visit FROM node_attempts a
WHERE a.run_id = :run_id AND a.node_id = :node_id AND a.step_index IS NOT NULL AND +a.ordinal < (
    SELECT e.ordinal FROM node_attempts e
    WHERE e.run_id = :run_id AND e.node_id = :mount AND e.step_index IS NOT NULL
    ORDER BY e.attempt_number DESC LIMIT 1)
ORDER BY a.attempt_number DESC LIMIT 1;

-- last_step: the newest finished attempt of a run
SELECT a.* FROM node_attempts a
WHERE a.run_id = :run_id AND a.step_index IS NOT NULL ORDER BY a.ordinal DESC LIMIT 1;

-- attempts: a window of a run's attempts in their order
SELECT a.* FROM node_attempts a WHERE a.run_id = :run_id AND a.ordinal > :after ORDER BY a.ordinal LIMIT :limit;

-- last_attempts: the newest attempts of a run, newest first
SELECT a.* FROM node_attempts a WHERE a.run_id = :run_id ORDER BY a.ordinal DESC LIMIT :limit;

-- intervals: the intervals of the attempts in a window
SELECT i.* FROM node_attempts a JOIN attempt_active_intervals i ON i.run_id = a.run_id AND i.attempt_id = a.attempt_id
WHERE a.run_id = :run_id AND a.ordinal BETWEEN :first AND :last ORDER BY a.ordinal, i.interval_number;

-- newest_updates: the newest updates of an attempt, newest first
SELECT u.* FROM workflow_updates u WHERE u.run_id = :run_id AND u.attempt_id = :attempt_id
ORDER BY u.update_seq DESC LIMIT :limit;

-- durations: working times of the newest ok attempts of a node in a run
SELECT active_ms FROM node_attempts WHERE run_id = :run_id AND node_id = :node_id AND outcome = 'ok'
ORDER BY attempt_number DESC LIMIT :limit;
