-- insert_run: a new run, by `start`
INSERT INTO runs (run_id, workflow, definition_digest, workflow_ref, project_dir, title, status, paused, revision, input_hash,
    output_hash, error_hash, error_code, error_summary, parent_run_id, parent_revision, root_run_id, restart_number,
    started_by, started_by_uid, active_ms, waiting_ms, clock, clock_since, steps, chain_head, last_at, created_at,
    started_at, finished_at)
VALUES (:run_id, :workflow, :definition_digest, :workflow_ref, :project_dir, :title, :status, :paused, :revision, :input_hash,
    :output_hash, :error_hash, :error_code, :error_summary, :parent_run_id, :parent_revision, :root_run_id, :restart_number,
    :started_by, :started_by_uid, :active_ms, :waiting_ms, :clock, :clock_since, :steps, :chain_head, :last_at, :created_at,
    :started_at, :finished_at);

-- close_run: the guarded end of a transition that left status and outcome as they were
UPDATE runs
SET revision = :revision, active_ms = :active_ms, waiting_ms = :waiting_ms, clock = :clock, clock_since = :clock_since,
    steps = :steps, chain_head = :chain_head, last_at = :last_at
WHERE run_id = :run_id AND revision = :read_revision AND EXISTS (
    SELECT 1 FROM run_queue
    WHERE run_id = :run_id AND generation = :read_generation AND token_hash IS :read_token_hash);

-- close_changed_run: the guarded end of any other transition
UPDATE runs
SET status = :status, paused = :paused, revision = :revision, output_hash = :output_hash, error_hash = :error_hash,
    error_code = :error_code, error_summary = :error_summary, active_ms = :active_ms, waiting_ms = :waiting_ms,
    clock = :clock, clock_since = :clock_since, steps = :steps, chain_head = :chain_head, last_at = :last_at,
    started_at = :started_at, finished_at = :finished_at
WHERE run_id = :run_id AND revision = :read_revision AND EXISTS (
    SELECT 1 FROM run_queue
    WHERE run_id = :run_id AND generation = :read_generation AND token_hash IS :read_token_hash);

-- insert_queue: the queue entry of a new run
INSERT INTO run_queue (run_id, status, available_at, losses, error_code, generation, token_hash, owner_kind, owner_id,
    host_epoch, boot_id, heartbeat_mono, heartbeat_at)
VALUES (:run_id, :status, :available_at, :losses, :error_code, :generation, :token_hash, :owner_kind, :owner_id,
    :host_epoch, :boot_id, :heartbeat_mono, :heartbeat_at);

-- close_queue: the queue entry after a transition, guarded by the claim as it was read
UPDATE run_queue
SET status = :status, available_at = :available_at, losses = :losses, error_code = :error_code, generation = :generation,
    token_hash = :token_hash, owner_kind = :owner_kind, owner_id = :owner_id, host_epoch = :host_epoch, boot_id = :boot_id,
    heartbeat_mono = :heartbeat_mono, heartbeat_at = :heartbeat_at
WHERE run_id = :run_id AND generation = :read_generation AND token_hash IS :read_token_hash;

-- head: the present rows of a run that the law decides on, without its history
SELECT r.*, q.*, a.*, i.*, l.ordinal, l.attempt_number, l.visit,
    l.node_id, l.outcome, l.switch_value, l.output_hash
FROM runs r
JOIN run_queue q ON q.run_id = r.run_id
LEFT JOIN node_attempts a ON a.run_id = r.run_id AND a.finished_at IS NULL
LEFT JOIN attempt_active_intervals i ON i.run_id = a.run_id AND i.attempt_id = a.attempt_id
    AND i.interval_number = (
        SELECT max(n.interval_number) FROM attempt_active_intervals n
        WHERE n.run_id = a.run_id AND n.attempt_id = a.attempt_id)
LEFT JOIN node_attempts l ON l.run_id = r.run_id AND l.ordinal = (
    SELECT n.ordinal FROM node_attempts n WHERE n.run_id = r.run_id AND n.step_index IS NOT NULL
    ORDER BY n.ordinal DESC LIMIT 1)
WHERE r.run_id = :run_id;

-- definition: the document of a definition
SELECT document FROM definitions WHERE definition_digest = :digest;

-- save_definition: keep a definition once
INSERT INTO definitions (definition_digest, name, document) VALUES (:digest, :name, :document)
ON CONFLICT (definition_digest) DO NOTHING;

-- save_sources: the accepted sources of a run
INSERT INTO run_sources (run_id, sources_hash) VALUES (:run_id, :sources_hash)
ON CONFLICT (run_id) DO UPDATE SET sources_hash = excluded.sources_hash;

-- sources: the hash of a run's accepted sources
SELECT sources_hash FROM run_sources WHERE run_id = :run_id;

-- child: the restart of a run, of which there is at most one
SELECT run_id FROM runs WHERE parent_run_id = :run_id;

-- ancestors: how the runs had ended that led to this one by restarts, the root first
WITH RECURSIVE line (run_id, depth) AS (
    SELECT parent_run_id, 1 FROM runs WHERE run_id = :run_id AND parent_run_id IS NOT NULL
    UNION ALL
    SELECT r.parent_run_id, line.depth + 1 FROM line JOIN runs r ON r.run_id = line.run_id
    WHERE r.parent_run_id IS NOT NULL AND line.depth < :limit)
SELECT r.run_id, r.status, ifnull(r.error_summary, r.error_code), r.output_hash, r.error_hash, r.finished_at
FROM line JOIN runs r ON r.run_id = line.run_id ORDER BY line.depth DESC;

-- exists: whether there is such a run
SELECT 1 FROM runs WHERE run_id = :run_id;

-- by_ids: the runs of a JSON array of ids, in its order, as lists show them
SELECT r.run_id, r.workflow, r.title, r.status, q.status, r.paused, r.error_code, r.error_summary, r.revision, r.started_by,
    r.created_at, r.last_at, r.started_at, r.finished_at, r.active_ms, r.waiting_ms, r.clock, r.clock_since, r.steps, q.losses,
    q.available_at, w.request_id, w.kind, w.status, w.deadline_at, d.default_choice, r.workflow_ref LIKE 'inline:%',
    q.owner_kind, q.owner_id, q.host_epoch, q.boot_id, q.heartbeat_mono, q.heartbeat_at,
    a.node_id, a.attempt_id, a.attempt_number, a.kind, a.status, a.started_at, c.content
FROM json_each(:ids) j
JOIN runs r ON r.run_id = j.value
JOIN run_queue q ON q.run_id = r.run_id
LEFT JOIN node_attempts a ON a.run_id = r.run_id AND a.finished_at IS NULL
LEFT JOIN requests w ON w.attempt_id = a.attempt_id
LEFT JOIN human_decisions d ON d.decision_id = w.request_id
LEFT JOIN blobs c ON c.hash = d.choices_hash AND d.default_choice IS NOT NULL
ORDER BY j.key;

-- ids_newest: the newest runs
SELECT run_id FROM runs ORDER BY created_at DESC, rowid DESC LIMIT :limit OFFSET :offset;

-- ids_newest_of_status: the newest runs of one status
SELECT run_id FROM runs WHERE status = :status ORDER BY created_at DESC, rowid DESC LIMIT :limit OFFSET :offset;

-- ids_newest_of_workflow: the newest runs of one workflow
SELECT run_id FROM runs WHERE workflow = :workflow ORDER BY created_at DESC, rowid DESC LIMIT :limit OFFSET :offset;

-- ids_before: the newest runs that are older than one
SELECT run_id FROM runs
WHERE created_at <= :before_at AND (created_at < :before_at OR rowid < :before_place)
ORDER BY created_at DESC, rowid DESC LIMIT :limit OFFSET :offset;

-- ids_open: the newest runs that are not finished
SELECT run_id FROM runs WHERE status IN ('queued', 'running', 'waiting')
ORDER BY created_at DESC, rowid DESC LIMIT :limit;

-- ids_newest_matching: the newest runs that match all terms, found in the order of the index, as one JSON array
WITH terms AS MATERIALIZED (
    SELECT json_extract(value, '$.field') AS field, json_extract(value, '$.pattern') AS pattern,
        json_extract(value, '$.negated') AS negated
    FROM json_each(:terms))
SELECT json_group_array(run_id) FROM (
    SELECT r.run_id FROM runs r WHERE
    (:statuses IS NULL OR r.status IN (SELECT value FROM json_each(:statuses)))
    AND (:created_after IS NULL OR r.created_at >= :created_after)
    AND (:created_before IS NULL OR r.created_at < :created_before)
    AND (:before_at IS NULL OR (r.created_at <= :before_at AND (r.created_at < :before_at OR r.rowid < :before_place)))
    AND NOT EXISTS (
        SELECT 1 FROM terms t WHERE t.negated = CASE t.field
            WHEN 'text' THEN r.run_id LIKE t.pattern ESCAPE '\' OR r.workflow LIKE t.pattern ESCAPE '\'
                OR ifnull(r.title, '') LIKE t.pattern ESCAPE '\'
            WHEN 'workflow' THEN r.workflow LIKE t.pattern ESCAPE '\'
            WHEN 'title' THEN ifnull(r.title, '') LIKE t.pattern ESCAPE '\'
            WHEN 'run' THEN r.run_id LIKE t.pattern ESCAPE '\'
            WHEN 'by' THEN r.started_by LIKE t.pattern ESCAPE '\'
            WHEN 'error' THEN ifnull(r.error_code, '') LIKE t.pattern ESCAPE '\'
                OR ifnull(r.error_summary, '') LIKE t.pattern ESCAPE '\'
            ELSE 0 END)
    ORDER BY r.created_at DESC, r.rowid DESC LIMIT :limit OFFSET :offset);

-- ids_matching: the runs that match all terms, in the wished order, as one JSON array
WITH terms AS MATERIALIZED (
    SELECT json_extract(value, '$.field') AS field, json_extract(value, '$.pattern') AS pattern,
        json_extract(value, '$.negated') AS negated
    FROM json_each(:terms)),
matching AS (
    SELECT r.run_id, r.rowid AS place, r.created_at,
        CASE :order WHEN 'workflow' THEN lower(r.workflow) WHEN 'title' THEN lower(ifnull(r.title, '')) WHEN 'status' THEN r.status
            WHEN 'updated' THEN r.last_at WHEN 'active' THEN r.active_ms WHEN 'waiting' THEN r.waiting_ms
            WHEN 'elapsed' THEN ifnull(r.finished_at, :now) - r.created_at WHEN 'steps' THEN r.steps END AS rank
    FROM runs r WHERE
    (:statuses IS NULL OR r.status IN (SELECT value FROM json_each(:statuses)))
    AND (:created_after IS NULL OR r.created_at >= :created_after)
    AND (:created_before IS NULL OR r.created_at < :created_before)
    AND (:before_at IS NULL OR (r.created_at <= :before_at AND (r.created_at < :before_at OR r.rowid < :before_place)))
    AND NOT EXISTS (
        SELECT 1 FROM terms t WHERE t.negated = CASE t.field
            WHEN 'text' THEN r.run_id LIKE t.pattern ESCAPE '\' OR r.workflow LIKE t.pattern ESCAPE '\'
                OR ifnull(r.title, '') LIKE t.pattern ESCAPE '\'
            WHEN 'workflow' THEN r.workflow LIKE t.pattern ESCAPE '\'
            WHEN 'title' THEN ifnull(r.title, '') LIKE t.pattern ESCAPE '\'
            WHEN 'run' THEN r.run_id LIKE t.pattern ESCAPE '\'
            WHEN 'by' THEN r.started_by LIKE t.pattern ESCAPE '\'
            WHEN 'error' THEN ifnull(r.error_code, '') LIKE t.pattern ESCAPE '\'
                OR ifnull(r.error_summary, '') LIKE t.pattern ESCAPE '\'
            ELSE 0 END))
SELECT json_group_array(run_id) FROM (
    SELECT run_id FROM matching
    ORDER BY CASE WHEN :descending THEN rank END DESC, CASE WHEN NOT :descending THEN rank END,
        CASE WHEN :descending THEN created_at END DESC, CASE WHEN NOT :descending THEN created_at END,
        CASE WHEN :descending THEN place END DESC, CASE WHEN NOT :descending THEN place END
    LIMIT :limit OFFSET :offset);

-- all_ids: every run, newest first, as one JSON array
SELECT json_group_array(run_id) FROM (SELECT run_id FROM runs ORDER BY created_at DESC, rowid DESC LIMIT -1);

-- place: where a run stands in the order of creation
SELECT created_at, rowid FROM runs WHERE run_id = :run_id;

-- counts: how many runs have each status
SELECT status, count(*) FROM runs GROUP BY status;

-- row: one run
SELECT r.* FROM runs r WHERE r.run_id = :run_id;

-- ids_of_short: runs whose short id begins so
SELECT run_id FROM runs WHERE substr(run_id, -8) >= :low AND substr(run_id, -8) < :high LIMIT :limit;
