-- illegal_situation: runs that stand in no row of the table of situations
SELECT r.run_id,
    r.status || ', queue ' || ifnull(q.status, 'missing') || iif(r.paused, ', paused', '') || iif(q.token_hash IS NULL, '', ', claimed')
        || ', attempt ' || ifnull(a.status, '-') || ', request ' || ifnull(iif(w.consumed_at IS NULL, w.status, 'consumed'), '-')
        || ifnull(', ' || q.error_code, '')
FROM runs r
LEFT JOIN run_queue q ON q.run_id = r.run_id
LEFT JOIN node_attempts a ON a.run_id = r.run_id AND a.finished_at IS NULL
LEFT JOIN requests w ON w.attempt_id = a.attempt_id
WHERE NOT ifnull(CASE
    WHEN r.status IN ('completed', 'failed', 'timed_out', 'cancelled') THEN
        q.status = 'done' AND r.paused = 0 AND q.token_hash IS NULL AND a.status IS NULL AND q.error_code IS NULL
    WHEN q.token_hash IS NOT NULL THEN q.error_code IS NULL AND CASE q.status
        WHEN 'starting' THEN (r.status = 'queued' AND a.status IS NULL)
            OR (r.status = 'running' AND ifnull(a.status, 'interrupted') = 'interrupted' AND w.status IS NULL)
            OR (r.status = 'waiting' AND a.status = 'waiting' AND w.status = 'settled' AND w.consumed_at IS NULL)
        WHEN 'running' THEN r.status = 'running' AND (
            (ifnull(a.status, 'interrupted') = 'interrupted' AND w.status IS NULL)
            OR (a.status = 'running' AND ifnull(w.status, 'settled') = 'settled' AND w.consumed_at IS NULL))
        ELSE 0 END
    WHEN q.error_code = 'effect_ambiguous' THEN
        q.status = 'parked' AND r.status = 'waiting' AND a.status = 'waiting' AND w.status IS NULL
    WHEN q.error_code IS NOT NULL THEN q.status = 'parked' AND (
        (r.status IN ('queued', 'running') AND ifnull(a.status, 'interrupted') = 'interrupted' AND w.status IS NULL)
        OR (r.status = 'waiting' AND a.status = 'waiting' AND w.status = 'settled' AND w.consumed_at IS NULL))
    WHEN r.paused THEN q.status = 'parked' AND (
        (r.status IN ('queued', 'running') AND ifnull(a.status, 'interrupted') = 'interrupted' AND w.status IS NULL)
        OR (r.status = 'waiting' AND a.status = 'waiting' AND w.status IN ('pending', 'settled') AND w.consumed_at IS NULL))
    WHEN r.status = 'queued' THEN q.status = 'queued' AND a.status IS NULL
    WHEN r.status = 'running' THEN q.status = 'queued' AND ifnull(a.status, 'interrupted') = 'interrupted' AND w.status IS NULL
    WHEN r.status = 'waiting' THEN a.status = 'waiting' AND w.consumed_at IS NULL
        AND ((q.status = 'queued' AND w.status = 'settled') OR (q.status = 'parked' AND w.status = 'pending'))
    ELSE 0 END, 0)
LIMIT :limit;

-- loose_head: runs whose head is not the newest of exactly as many events as their revision says
SELECT r.run_id, 'revision ' || r.revision FROM runs r LEFT JOIN events e ON e.run_id = r.run_id AND e.seq = r.revision
WHERE e.hash IS NOT r.chain_head OR e.at IS NOT r.last_at
    OR (SELECT count(*) FROM events n WHERE n.run_id = r.run_id) <> r.revision
LIMIT :limit;

-- stray_events: events of a run that is not there, and is not the tombstone of a pruned one
SELECT e.run_id, count(*) || ' events' FROM events e WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.run_id = e.run_id)
GROUP BY e.run_id HAVING count(*) <> 1 OR max(e.type) <> 'run_pruned' LIMIT :limit;

-- event_numbers: event numbers that SQLite would hand out again
SELECT 'events', 'event ' || max(e.event_seq) FROM events e
HAVING max(e.event_seq) > ifnull((SELECT s.seq FROM sqlite_sequence s WHERE s.name = 'events'), 0) LIMIT :limit;

-- pending_request: pending requests that no waiting attempt of their run waits for
SELECT w.request_id, 'run ' || w.run_id FROM requests w
LEFT JOIN node_attempts a ON a.attempt_id = w.attempt_id AND a.run_id = w.run_id AND a.node_id = w.node_id
LEFT JOIN runs r ON r.run_id = w.run_id
WHERE w.status = 'pending' AND (a.status IS NOT 'waiting' OR r.status IS NOT 'waiting') LIMIT :limit;

-- accepted_request: settled requests without the one accepted submission that they name
SELECT w.request_id, 'run ' || w.run_id FROM requests w
LEFT JOIN submissions s ON s.submission_id = w.accepted_submission_id AND s.request_id = w.request_id
WHERE w.status = 'settled' AND (s.outcome IS NOT 'accepted' OR s.payload_hash IS NOT w.output_hash) LIMIT :limit;

-- second_winner: requests with an accepted submission that they do not name
SELECT s.request_id, 'submission ' || s.submission_id FROM submissions s JOIN requests w ON w.request_id = s.request_id
WHERE s.outcome = 'accepted' AND w.accepted_submission_id IS NOT s.submission_id LIMIT :limit;

-- decision_request: decisions and requests that do not belong together
SELECT w.request_id, 'run ' || w.run_id FROM requests w LEFT JOIN human_decisions d ON d.decision_id = w.request_id
WHERE (w.kind = 'decision') <> (d.decision_id IS NOT NULL)
    OR (d.decision_id IS NOT NULL AND (d.run_id <> w.run_id OR d.attempt_id <> w.attempt_id OR d.node_id <> w.node_id
        OR d.request_digest <> w.digest OR d.deadline_at IS NOT w.deadline_at))
LIMIT :limit;

-- resolution: decisions whose resolution does not fit what became of their request
SELECT w.request_id, 'request ' || w.status || ', resolution ' || ifnull(s.provenance, 'missing')
FROM requests w LEFT JOIN human_decision_resolutions s ON s.decision_id = w.request_id
WHERE w.kind = 'decision' AND CASE w.status
    WHEN 'pending' THEN s.decision_id IS NOT NULL
    WHEN 'cancelled' THEN s.provenance IS NOT 'explicit_cancel'
    ELSE s.decision_id IS NULL OR s.provenance = 'explicit_cancel' OR s.submission_id IS NOT w.accepted_submission_id
        OR s.response_hash IS NOT w.output_hash OR s.request_digest <> w.digest END
LIMIT :limit;

-- active_clock: working intervals that are open though nobody works
SELECT i.attempt_id, 'interval ' || i.interval_number FROM attempt_active_intervals i
LEFT JOIN node_attempts a ON a.attempt_id = i.attempt_id AND a.run_id = i.run_id
LEFT JOIN run_queue q ON q.run_id = i.run_id
WHERE i.ended_at IS NULL AND (a.status IS NOT 'running' OR q.token_hash IS NULL) LIMIT :limit;

-- working_time: attempts whose working time is not the sum of their intervals
SELECT a.attempt_id, a.active_ms || ' ms' FROM node_attempts a
WHERE a.active_ms <> (
    SELECT ifnull(sum(i.elapsed_ms), 0) FROM attempt_active_intervals i WHERE i.run_id = a.run_id AND i.attempt_id = a.attempt_id)
LIMIT :limit;

-- run_sums: runs whose steps or working time are not those of their attempts
SELECT r.run_id, r.steps || ' steps, ' || r.active_ms || ' ms'
FROM runs r LEFT JOIN (
    SELECT run_id, count(step_index) AS steps, sum(active_ms) AS active_ms FROM node_attempts GROUP BY run_id) a ON a.run_id = r.run_id
WHERE r.active_ms <> ifnull(a.active_ms, 0) OR r.steps <> ifnull(a.steps, 0) AND r.steps <> (
    -- Going into and out of an include is no step of the run; only where there are too many is it worth looking.
    SELECT count(*) FROM node_attempts n WHERE n.run_id = r.run_id AND n.step_index < r.steps
        AND instr(n.node_id, '.') = 0 AND NOT EXISTS (
        SELECT 1 FROM definitions d, json_each(d.document, '$.mounts') m
        WHERE d.definition_digest = r.definition_digest AND m.key = n.node_id))
LIMIT :limit;

-- unsure_effect: effects whose state does not fit their run
SELECT e.effect_id, e.status || ', run ' || r.status || ifnull(', ' || q.error_code, '')
FROM effects e JOIN runs r ON r.run_id = e.run_id LEFT JOIN run_queue q ON q.run_id = e.run_id
WHERE (e.status = 'applying' AND r.finished_at IS NOT NULL)
    OR (e.status = 'ambiguous' AND r.finished_at IS NULL AND q.error_code IS NOT 'effect_ambiguous')
LIMIT :limit;

-- blocked_effect: runs that ask whether an effect happened though none is unsure
SELECT q.run_id, 'no ambiguous effect' FROM run_queue q
WHERE q.error_code = 'effect_ambiguous'
    AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.run_id = q.run_id AND e.status = 'ambiguous') LIMIT :limit;

-- effect_tries: effects whose tries are not as many as they count
SELECT e.effect_id, e.attempt_count || ' tries' FROM effects e
WHERE e.attempt_count <> (SELECT count(*) FROM effect_attempts t WHERE t.effect_id = e.effect_id) LIMIT :limit;

-- claim_epoch: claims of a host that the store has not seen yet
SELECT q.run_id, 'epoch ' || q.host_epoch FROM run_queue q JOIN host_state h ON h.id = 1
WHERE q.token_hash IS NOT NULL AND q.owner_kind = 'host' AND q.host_epoch > h.epoch LIMIT :limit;

-- worker: launches that no claim of their run can have made, or that have ended and have not
SELECT w.worker_id, 'run ' || w.run_id || ', generation ' || w.generation || ', ' || w.status FROM run_workers w
LEFT JOIN run_queue q ON q.run_id = w.run_id
WHERE w.generation > ifnull(q.generation, 0) OR (w.status IN ('starting', 'ready')) <> (w.finished_at IS NULL)
    OR (w.status = 'ready' AND w.ready_at IS NULL) OR (w.status = 'starting' AND w.ready_at IS NOT NULL)
LIMIT :limit;

-- command: commands whose receipt is not theirs, or whose run is not there
SELECT c.key, c.command || ', run ' || ifnull(c.run_id, 'none') FROM commands c LEFT JOIN runs r ON r.run_id = c.run_id
WHERE NOT ifnull(CASE
    WHEN json_valid(c.receipt) AND json_valid(c.actor) THEN
        json_extract(c.receipt, '$.key') = c.key AND json_extract(c.receipt, '$.command') = c.command
        AND json_extract(c.receipt, '$.run_id') IS c.run_id
        AND (c.run_id IS NULL OR ifnull(json_extract(c.receipt, '$.revision'), 1) <= r.revision)
    ELSE 0 END, 0)
LIMIT :limit;

-- policy: policies whose users are no list of names
SELECT p.audience, 'users ' || p.users FROM policies p
WHERE p.users IS NOT NULL AND NOT ifnull(CASE
    WHEN json_valid(p.users) THEN json_type(p.users) = 'array' AND json_array_length(p.users) > 0
        AND NOT EXISTS (SELECT 1 FROM json_each(p.users) j WHERE j.type <> 'text' OR j.value = '')
    ELSE 0 END, 0)
LIMIT :limit;

-- lineage: restarts whose parent is not the run that they say
SELECT r.run_id, 'parent ' || ifnull(r.parent_run_id, 'none') FROM runs r LEFT JOIN runs p ON p.run_id = r.parent_run_id
WHERE (r.parent_run_id IS NULL AND r.root_run_id <> r.run_id)
    OR (r.parent_run_id IS NOT NULL AND (p.root_run_id IS NOT r.root_run_id OR p.restart_number + 1 IS NOT r.restart_number
        OR p.finished_at IS NULL))
LIMIT :limit;

-- missing_value: hashes that name no stored value
WITH named (hash, place) AS (
    SELECT input_hash, 'runs.input_hash' FROM runs UNION ALL SELECT output_hash, 'runs.output_hash' FROM runs
    UNION ALL SELECT error_hash, 'runs.error_hash' FROM runs
    UNION ALL SELECT sources_hash, 'run_sources.sources_hash' FROM run_sources
    UNION ALL SELECT prompt_hash, 'node_attempts.prompt_hash' FROM node_attempts
    UNION ALL SELECT output_hash, 'node_attempts.output_hash' FROM node_attempts
    UNION ALL SELECT error_hash, 'node_attempts.error_hash' FROM node_attempts
    UNION ALL SELECT settings_hash, 'node_attempts.settings_hash' FROM node_attempts
    UNION ALL SELECT initial_hash, 'workflow_settings.initial_hash' FROM workflow_settings
    UNION ALL SELECT current_hash, 'workflow_settings.current_hash' FROM workflow_settings
    UNION ALL SELECT patch_hash, 'workflow_setting_changes.patch_hash' FROM workflow_setting_changes
    UNION ALL SELECT before_hash, 'workflow_setting_changes.before_hash' FROM workflow_setting_changes
    UNION ALL SELECT after_hash, 'workflow_setting_changes.after_hash' FROM workflow_setting_changes
    UNION ALL SELECT data_hash, 'workflow_updates.data_hash' FROM workflow_updates
    UNION ALL SELECT contract_hash, 'requests.contract_hash' FROM requests
    UNION ALL SELECT output_hash, 'requests.output_hash' FROM requests
    UNION ALL SELECT payload_hash, 'submissions.payload_hash' FROM submissions
    UNION ALL SELECT subject_hash, 'human_decisions.subject_hash' FROM human_decisions
    UNION ALL SELECT presentation_hash, 'human_decisions.presentation_hash' FROM human_decisions
    UNION ALL SELECT choices_hash, 'human_decisions.choices_hash' FROM human_decisions
    UNION ALL SELECT response_hash, 'human_decision_resolutions.response_hash' FROM human_decision_resolutions
    UNION ALL SELECT payload_hash, 'effects.payload_hash' FROM effects
    UNION ALL SELECT result_hash, 'effects.result_hash' FROM effects
    UNION ALL SELECT error_hash, 'effects.error_hash' FROM effects)
SELECT n.hash, n.place FROM named n
WHERE n.hash IS NOT NULL AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.hash = n.hash) LIMIT :limit;
