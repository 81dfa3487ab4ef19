-- insert_event: one fact of a run
INSERT INTO events (run_id, seq, type, at, actor, attempt_id, payload, prev_hash, hash)
VALUES (:run_id, :seq, :type, :at, :actor, :attempt_id, :payload, :prev_hash, :hash);

-- newest_seq: the newest event of the store
SELECT max(event_seq) FROM events;

-- after: which runs changed since an event
SELECT event_seq, run_id, type FROM events WHERE event_seq > :after ORDER BY event_seq LIMIT :limit;

-- of_run: a window of a run's events in their order
SELECT e.event_seq, e.run_id, e.seq, e.type, e.at, e.actor, e.attempt_id, a.node_id, e.payload, e.prev_hash, e.hash
FROM events e LEFT JOIN node_attempts a ON a.attempt_id = e.attempt_id
WHERE e.run_id = :run_id AND e.seq > :after ORDER BY e.seq LIMIT :limit;

-- last_of_run: the newest events of a run, newest first
SELECT e.event_seq, e.run_id, e.seq, e.type, e.at, e.actor, e.attempt_id, a.node_id, e.payload, e.prev_hash, e.hash
FROM events e LEFT JOIN node_attempts a ON a.attempt_id = e.attempt_id
WHERE e.run_id = :run_id ORDER BY e.seq DESC LIMIT :limit;

-- marks_of_run: the newest events that change how a run's time is drawn
SELECT e.event_seq, e.run_id, e.seq, e.type, e.at, e.actor, e.attempt_id, a.node_id, e.payload, e.prev_hash, e.hash
FROM events e LEFT JOIN node_attempts a ON a.attempt_id = e.attempt_id
WHERE e.run_id = :run_id AND e.seq > :after AND e.type IN ('run_paused', 'run_unpaused', 'run_interrupted', 'run_parked', 'run_blocked',
    'run_unblocked', 'effect_ambiguous', 'effect_resolved')
ORDER BY e.seq DESC LIMIT :limit;

-- event: one event of a run
SELECT e.event_seq, e.run_id, e.seq, e.type, e.at, e.actor, e.attempt_id, a.node_id, e.payload, e.prev_hash, e.hash
FROM events e LEFT JOIN node_attempts a ON a.attempt_id = e.attempt_id
WHERE e.run_id = :run_id AND e.seq = :seq;
