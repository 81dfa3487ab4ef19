-- save_request: a request, opened or changed; what it asks never changes
INSERT INTO requests (request_id, run_id, attempt_id, node_id, kind, status, digest, contract_hash, policy, deadline_at,
    accepted_submission_id, output_hash, created_at, settled_at, consumed_at)
VALUES (:request_id, :run_id, :attempt_id, :node_id, :kind, :status, :digest, :contract_hash, :policy, :deadline_at,
    :accepted_submission_id, :output_hash, :created_at, :settled_at, :consumed_at)
ON CONFLICT (request_id) DO UPDATE
SET status = excluded.status, accepted_submission_id = excluded.accepted_submission_id, output_hash = excluded.output_hash,
    settled_at = excluded.settled_at, consumed_at = excluded.consumed_at;

-- asked_by: what an attempt waits for, with the decision that it is, if it is one
SELECT w.*, d.* FROM requests w LEFT JOIN human_decisions d ON d.decision_id = w.request_id
WHERE w.attempt_id = :attempt_id;

-- save_decision: a human decision; it never changes
INSERT INTO human_decisions (decision_id, run_id, attempt_id, node_id, audience, title, subject_hash, presentation_hash,
    choices_hash, request_digest, deadline_at, default_choice, created_at)
VALUES (:decision_id, :run_id, :attempt_id, :node_id, :audience, :title, :subject_hash, :presentation_hash,
    :choices_hash, :request_digest, :deadline_at, :default_choice, :created_at);

-- save_resolution: the one winner; a second is refused by the primary key
INSERT INTO human_decision_resolutions (decision_id, run_id, provenance, choice, response_hash, submission_id, actor_kind,
    actor_id, channel, request_digest, resolved_at)
VALUES (:decision_id, :run_id, :provenance, :choice, :response_hash, :submission_id, :actor_kind, :actor_id, :channel,
    :request_digest, :resolved_at);

-- save_submission: a candidate answer, with what became of it
INSERT INTO submissions (submission_id, request_id, run_id, source, actor_kind, actor_id, channel, payload_hash, outcome,
    winner, submitted_at)
VALUES (:submission_id, :request_id, :run_id, :source, :actor_kind, :actor_id, :channel, :payload_hash, :outcome,
    :winner, :submitted_at);

-- request: one request
SELECT w.* FROM requests w WHERE w.request_id = :request_id;

-- decision: one human decision
SELECT d.* FROM human_decisions d WHERE d.decision_id = :request_id;

-- resolution: the winner of a decision
SELECT s.* FROM human_decision_resolutions s WHERE s.decision_id = :request_id;

-- submissions: the candidate answers of a request, in their order
SELECT s.* FROM submissions s WHERE s.request_id = :request_id ORDER BY s.submitted_at, s.rowid;

-- policy: the policy of an audience
SELECT audience, users, self_approval FROM policies WHERE audience = :audience;

-- due: the decisions whose default may be taken now, or are late by the time of their own run; no run is beyond :latest
SELECT w.request_id FROM requests w JOIN runs r ON r.run_id = w.run_id
WHERE w.status = 'pending' AND w.deadline_at <= :latest AND w.deadline_at <= max(:now, r.last_at) AND r.paused = 0
ORDER BY w.deadline_at, w.request_id LIMIT :limit;

-- next_deadline: the earliest deadline of a pending request of a run that is not paused
SELECT w.deadline_at FROM requests w JOIN runs r ON r.run_id = w.run_id
WHERE w.status = 'pending' AND w.deadline_at IS NOT NULL AND r.paused = 0 ORDER BY w.deadline_at LIMIT 1;

-- latest_waiting: the newest time of a run that waits for a decision with a deadline
SELECT max(r.last_at) FROM requests w JOIN runs r ON r.run_id = w.run_id
WHERE w.status = 'pending' AND w.deadline_at IS NOT NULL;

-- of_run: the requests of a run, newest first
SELECT w.* FROM requests w WHERE w.run_id = :run_id ORDER BY w.created_at DESC, w.rowid DESC LIMIT :limit;

-- resolutions_of_run: the decided decisions of a run
SELECT s.* FROM requests w JOIN human_decision_resolutions s ON s.decision_id = w.request_id
WHERE w.run_id = :run_id ORDER BY s.resolved_at DESC LIMIT :limit;

-- pending: the requests that can be answered now or once their run is resumed, a person's first, least time left first
SELECT w.*, d.*, s.*, r.workflow, r.title, r.status, r.last_at, r.paused, r.started_by, r.definition_digest, a.attempt_number, b.content
FROM requests w
JOIN runs r ON r.run_id = w.run_id
JOIN node_attempts a ON a.attempt_id = w.attempt_id
LEFT JOIN human_decisions d ON d.decision_id = w.request_id
LEFT JOIN human_decision_resolutions s ON s.decision_id = w.request_id
LEFT JOIN blobs b ON b.hash = w.contract_hash
WHERE w.status = 'pending' AND (:kind IS NULL OR w.kind = :kind) AND r.status IN ('queued', 'running', 'waiting')
ORDER BY w.kind <> 'decision', w.deadline_at IS NULL, w.deadline_at, w.created_at, w.request_id LIMIT :limit;

-- decided: decisions that somebody or something resolved, newest first
SELECT w.*, d.*, s.*, r.workflow, r.title, r.status, r.last_at, r.paused, r.started_by, r.definition_digest, a.attempt_number, b.content
FROM human_decision_resolutions s
JOIN human_decisions d ON d.decision_id = s.decision_id
JOIN requests w ON w.request_id = s.decision_id
JOIN runs r ON r.run_id = w.run_id
JOIN node_attempts a ON a.attempt_id = w.attempt_id
LEFT JOIN blobs b ON b.hash = w.contract_hash
ORDER BY s.resolved_at DESC LIMIT :limit;

-- view: one request with everything that its card shows
SELECT w.*, d.*, s.*, r.workflow, r.title, r.status, r.last_at, r.paused, r.started_by, r.definition_digest, a.attempt_number, b.content
FROM requests w
JOIN runs r ON r.run_id = w.run_id
JOIN node_attempts a ON a.attempt_id = w.attempt_id
LEFT JOIN human_decisions d ON d.decision_id = w.request_id
LEFT JOIN human_decision_resolutions s ON s.decision_id = w.request_id
LEFT JOIN blobs b ON b.hash = w.contract_hash
WHERE w.request_id = :request_id;

-- succeeding: the newest request of the node after this one, while it is pending
SELECT n.request_id FROM requests w JOIN requests n ON n.run_id = w.run_id AND n.node_id = w.node_id
WHERE w.request_id = :request_id AND n.created_at >= w.created_at AND n.request_id <> w.request_id
ORDER BY n.created_at DESC, n.rowid DESC LIMIT 1;

-- pending_of_run: the ids of the pending requests of a run
SELECT request_id FROM requests WHERE run_id = :run_id AND status = 'pending';

-- ids_like: request ids whose hex begins so
SELECT request_id FROM requests WHERE request_id >= :low AND request_id < :high ORDER BY request_id LIMIT :limit;
