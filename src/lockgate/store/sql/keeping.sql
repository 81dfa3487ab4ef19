-- chain_of_run: the events of a run as they are stored, in their order
SELECT event_seq, seq, type, at, actor, attempt_id, payload, prev_hash, hash FROM events WHERE run_id = :run_id ORDER BY seq;

-- link_of_run: the hash of one event of a run
SELECT type, hash FROM events WHERE run_id = :run_id AND seq = :seq;

-- tombstone: what is left of a pruned run
SELECT seq, payload, hash FROM events WHERE run_id = :run_id AND type = 'run_pruned' ORDER BY seq DESC LIMIT 1;

-- has_events: whether a run has ever left an event
SELECT 1 FROM events WHERE run_id = :run_id LIMIT 1;

-- whole_definition: a definition with the digest that names it
SELECT document FROM definitions WHERE definition_digest = :digest;

-- whole_value: a stored value to be hashed again
SELECT content FROM blobs WHERE hash = :hash;

-- run_rows: the run itself
SELECT r.* FROM runs r WHERE r.run_id = :run_id;

-- queue_rows: the queue entry of a run
SELECT q.* FROM run_queue q WHERE q.run_id = :run_id;

-- source_rows: the accepted sources of a run
SELECT s.* FROM run_sources s WHERE s.run_id = :run_id;

-- attempt_rows: the attempts of a run
SELECT a.* FROM node_attempts a WHERE a.run_id = :run_id ORDER BY a.ordinal;

-- interval_rows: the working intervals of a run
SELECT i.* FROM attempt_active_intervals i WHERE i.run_id = :run_id ORDER BY i.started_at, i.attempt_id, i.interval_number;

-- update_rows: what a run published
SELECT u.* FROM workflow_updates u WHERE u.run_id = :run_id ORDER BY u.recorded_at, u.update_seq;

-- request_rows: what a run waited for
SELECT w.* FROM requests w WHERE w.run_id = :run_id ORDER BY w.created_at, w.request_id;

-- submission_rows: the candidate answers to a run's requests
SELECT s.* FROM requests w JOIN submissions s ON s.request_id = w.request_id
WHERE w.run_id = :run_id ORDER BY s.submitted_at, s.submission_id;

-- decision_rows: the human decisions of a run
SELECT d.* FROM requests w JOIN human_decisions d ON d.decision_id = w.request_id
WHERE w.run_id = :run_id ORDER BY d.created_at, d.decision_id;

-- resolution_rows: how the human decisions of a run ended
SELECT s.* FROM requests w JOIN human_decision_resolutions s ON s.decision_id = w.request_id
WHERE w.run_id = :run_id ORDER BY s.resolved_at, s.decision_id;

-- effect_rows: the declared side effects of a run
SELECT e.* FROM effects e WHERE e.run_id = :run_id ORDER BY e.created_at, e.effect_id;

-- effect_attempt_rows: the tries at a run's side effects
SELECT t.* FROM effects e JOIN effect_attempts t ON t.effect_id = e.effect_id
WHERE e.run_id = :run_id ORDER BY t.started_at, t.effect_id, t.attempt_number;

-- settings_rows: the settings scopes of a run
SELECT s.* FROM workflow_settings s WHERE s.run_id = :run_id;

-- setting_change_rows: the accepted changes of a run's settings
SELECT c.* FROM workflow_setting_changes c WHERE c.run_id = :run_id;

-- identity: which store this is, and its newest event
SELECT store_id, ifnull((SELECT max(event_seq) FROM events), 0) FROM meta WHERE id = 1;

-- counts: how many rows there are of each kind that every schema version has
SELECT 'runs', count(*) FROM runs UNION ALL SELECT 'events', count(*) FROM events
UNION ALL SELECT 'attempts', count(*) FROM node_attempts UNION ALL SELECT 'intervals', count(*) FROM attempt_active_intervals
UNION ALL SELECT 'updates', count(*) FROM workflow_updates UNION ALL SELECT 'requests', count(*) FROM requests
UNION ALL SELECT 'submissions', count(*) FROM submissions UNION ALL SELECT 'decisions', count(*) FROM human_decisions
UNION ALL SELECT 'resolutions', count(*) FROM human_decision_resolutions UNION ALL SELECT 'effects', count(*) FROM effects
UNION ALL SELECT 'effect_attempts', count(*) FROM effect_attempts UNION ALL SELECT 'commands', count(*) FROM commands
UNION ALL SELECT 'definitions', count(*) FROM definitions UNION ALL SELECT 'values', count(*) FROM blobs
UNION ALL SELECT 'policies', count(*) FROM policies UNION ALL SELECT 'output_chunks', count(*) FROM attempt_output;


-- run_count: how many runs there are
SELECT count(*) FROM runs;

-- runs_to_audit: unfinished runs first, then the newest
SELECT run_id FROM runs ORDER BY finished_at IS NOT NULL, created_at DESC;

-- tombstones: runs that are no longer there though they left events
SELECT DISTINCT e.run_id FROM events e WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.run_id = e.run_id) ORDER BY e.run_id;

-- loose_workers: launches whose claim has ended, and whose own end no host has seen
SELECT count(*) FROM run_workers w JOIN run_queue q ON q.run_id = w.run_id
WHERE w.status IN ('starting', 'ready') AND (q.token_hash IS NULL OR q.generation <> w.generation);

-- orphan_values: stored values that nothing names any more, and their bytes
WITH named (hash) AS (
    SELECT input_hash FROM runs UNION SELECT output_hash FROM runs UNION SELECT error_hash FROM runs
    UNION SELECT sources_hash FROM run_sources
    UNION SELECT prompt_hash FROM node_attempts UNION SELECT output_hash FROM node_attempts UNION SELECT error_hash FROM node_attempts
    UNION SELECT settings_hash FROM node_attempts
    UNION SELECT initial_hash FROM workflow_settings UNION SELECT current_hash FROM workflow_settings
    UNION SELECT patch_hash FROM workflow_setting_changes UNION SELECT before_hash FROM workflow_setting_changes
    UNION SELECT after_hash FROM workflow_setting_changes
    UNION SELECT data_hash FROM workflow_updates
    UNION SELECT contract_hash FROM requests UNION SELECT output_hash FROM requests
    UNION SELECT payload_hash FROM submissions
    UNION SELECT subject_hash FROM human_decisions UNION SELECT presentation_hash FROM human_decisions
    UNION SELECT choices_hash FROM human_decisions
    UNION SELECT response_hash FROM human_decision_resolutions
    UNION SELECT payload_hash FROM effects UNION SELECT result_hash FROM effects UNION SELECT error_hash FROM effects
    UNION SELECT j.value FROM events e, json_tree(e.payload) j
    WHERE e.type IN ('notified', 'agent_prompt_sent', 'source_accepted', 'effect_reserved', 'effect_applied', 'effect_rejected',
            'effect_ambiguous', 'effect_resolved', 'settings_changed', 'run_pruned')
        AND j.type = 'text' AND substr(j.key, -5) = '_hash')
SELECT b.hash, length(b.content) FROM blobs b WHERE b.hash NOT IN (SELECT n.hash FROM named n WHERE n.hash IS NOT NULL);

-- queued_runs: how many runs wait for a host
SELECT count(*) FROM run_queue WHERE status = 'queued';

-- blocked_runs: the newest blocked runs, with why and the end of what their worker wrote
SELECT q.run_id, r.error_code, r.error_summary,
    (SELECT k.stderr_tail FROM run_workers k WHERE k.run_id = q.run_id ORDER BY k.generation DESC LIMIT 1)
FROM run_queue q JOIN runs r ON r.run_id = q.run_id
WHERE q.error_code IS NOT NULL ORDER BY r.created_at DESC LIMIT 10;

-- old_trees: every member of each tree that has a member which ended before the cutoff, with what may keep it
SELECT r.root_run_id, r.run_id, r.revision, r.status, r.finished_at, q.token_hash IS NOT NULL,
    (SELECT count(*) FROM effects e WHERE e.run_id = r.run_id AND e.status IN ('applying', 'ambiguous')),
    (SELECT count(*) FROM requests w WHERE w.run_id = r.run_id AND w.status = 'pending'),
    (SELECT count(*) FROM requests w JOIN human_decision_resolutions s ON s.decision_id = w.request_id
        WHERE w.run_id = r.run_id AND s.provenance <> 'explicit_cancel')
FROM runs r LEFT JOIN run_queue q ON q.run_id = r.run_id
WHERE r.root_run_id IN (SELECT o.root_run_id FROM runs o WHERE o.finished_at < :cutoff)
ORDER BY r.root_run_id, r.restart_number;

-- tree_again: the members of a tree by their ids, and restarts of them, with what may keep them
SELECT r.root_run_id, r.run_id, r.revision, r.status, r.finished_at, q.token_hash IS NOT NULL,
    (SELECT count(*) FROM effects e WHERE e.run_id = r.run_id AND e.status IN ('applying', 'ambiguous')),
    (SELECT count(*) FROM requests w WHERE w.run_id = r.run_id AND w.status = 'pending'),
    (SELECT count(*) FROM requests w JOIN human_decision_resolutions s ON s.decision_id = w.request_id
        WHERE w.run_id = r.run_id AND s.provenance <> 'explicit_cancel')
FROM runs r LEFT JOIN run_queue q ON q.run_id = r.run_id
WHERE r.run_id IN (SELECT j.value FROM json_each(:run_ids) j)
    OR r.parent_run_id IN (SELECT j.value FROM json_each(:run_ids) j)
ORDER BY r.restart_number;

-- receipts: the events by which a run's decisions ended
SELECT seq, hash FROM events WHERE run_id = :run_id AND type IN ('decision_accepted', 'decision_withdrawn') ORDER BY seq;

-- end_of_chain: where a run's chain ended
SELECT revision, chain_head, last_at FROM runs WHERE run_id = :run_id;

-- prune_events: the events of a run go
DELETE FROM events WHERE run_id = :run_id;

-- prune_commands: the keys that were used on a run go
DELETE FROM commands WHERE run_id = :run_id;

-- prune_run: a run goes, with every row that it owns
DELETE FROM runs WHERE run_id = :run_id;

-- prune_values: these stored values go
DELETE FROM blobs WHERE hash IN (SELECT j.value FROM json_each(:hashes) j);

-- prune_definitions: definitions that no run has any more go
DELETE FROM definitions WHERE definition_digest NOT IN (SELECT r.definition_digest FROM runs r);

-- payloads_after: what events say since one of them
SELECT payload FROM events WHERE event_seq > :after;

-- set_policy: who may answer for an audience from now on
INSERT INTO policies (audience, users, self_approval, set_by, set_at) VALUES (:audience, :users, :self_approval, :set_by, :set_at)
ON CONFLICT (audience) DO UPDATE
SET users = excluded.users, self_approval = excluded.self_approval, set_by = excluded.set_by, set_at = excluded.set_at;

-- policies: the policies in force
SELECT audience, users, self_approval, set_by, set_at FROM policies ORDER BY audience;

-- runs_with_events: every run that left an event, pruned ones too
SELECT DISTINCT run_id FROM events ORDER BY run_id;

-- every_value: all stored values, to be hashed again
SELECT hash, content FROM blobs;
