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

-- loose_heads: runs whose head is not the newest of exactly as many events as their revision says
SELECT r.run_id FROM runs r LEFT JOIN events e ON e.run_id = r.run_id AND e.seq = r.revision
WHERE e.hash IS NOT r.chain_head OR (SELECT count(*) FROM events n WHERE n.run_id = r.run_id) <> r.revision
LIMIT :limit;
