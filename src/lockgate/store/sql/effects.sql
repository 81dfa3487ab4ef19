-- save_effect: an effect, reserved, settled or resolved
INSERT INTO effects (effect_id, run_id, attempt_id, node_id, visit, effect_type, recovery, status, payload_hash,
    attempt_count, result_hash, error_hash, resolved_by, resolved_at, created_at, settled_at)
VALUES (:effect_id, :run_id, :attempt_id, :node_id, :visit, :effect_type, :recovery, :status, :payload_hash,
    :attempt_count, :result_hash, :error_hash, :resolved_by, :resolved_at, :created_at, :settled_at)
ON CONFLICT (effect_id) DO UPDATE
SET attempt_id = excluded.attempt_id, status = excluded.status, payload_hash = excluded.payload_hash,
    attempt_count = excluded.attempt_count, result_hash = excluded.result_hash, error_hash = excluded.error_hash,
    resolved_by = excluded.resolved_by, resolved_at = excluded.resolved_at, settled_at = excluded.settled_at;

-- save_effect_attempt: one try at an effect
INSERT INTO effect_attempts (effect_id, run_id, attempt_number, attempt_id, started_at, finished_at, outcome)
VALUES (:effect_id, :run_id, :attempt_number, :attempt_id, :started_at, :finished_at, :outcome)
ON CONFLICT (effect_id, attempt_number) DO UPDATE SET finished_at = excluded.finished_at, outcome = excluded.outcome;

-- done_by: the effect of a node's visit, with the newest try at it
SELECT e.*, t.* FROM effects e
LEFT JOIN effect_attempts t ON t.effect_id = e.effect_id AND t.attempt_number = e.attempt_count
WHERE e.run_id = :run_id AND e.node_id = :node_id AND e.visit = :visit;

-- effect: one effect
SELECT e.* FROM effects e WHERE e.effect_id = :effect_id;

-- effect_attempt: the newest try at an effect
SELECT t.* FROM effect_attempts t WHERE t.effect_id = :effect_id ORDER BY t.attempt_number DESC LIMIT 1;

-- unsettled: how many effects of a run may have happened or not
SELECT count(*) FROM effects WHERE run_id = :run_id AND status IN ('applying', 'ambiguous');

-- of_run: the effects of a run, newest first
SELECT e.* FROM effects e WHERE e.run_id = :run_id ORDER BY e.created_at DESC, e.rowid DESC LIMIT :limit;

-- ambiguous_of_run: the effects of a run that a person has to resolve
SELECT effect_id FROM effects WHERE run_id = :run_id AND status = 'ambiguous';

-- ids_like: effect ids whose hex begins so
SELECT effect_id FROM effects WHERE effect_id >= :low AND effect_id < :high ORDER BY effect_id LIMIT :limit;
