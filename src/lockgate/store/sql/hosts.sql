-- host: the host as the store knows it
SELECT epoch, host_id, pid, boot_id, process_start, started_at, heartbeat_at, heartbeat_mono, capacity
FROM host_state WHERE id = 1;

-- take_host: a new host owns the store
UPDATE host_state
SET epoch = epoch + 1, host_id = :host_id, pid = :pid, boot_id = :boot_id, process_start = :process_start,
    started_at = :at, heartbeat_at = :at, heartbeat_mono = :mono, capacity = :capacity
WHERE id = 1;

-- renew_host: the host is alive; nothing where another one has taken over
UPDATE host_state SET heartbeat_at = :at, heartbeat_mono = :mono WHERE id = 1 AND epoch = :epoch AND host_id = :host_id;

-- renew_claims: the leases of all claims of an owner
UPDATE run_queue SET heartbeat_at = :at, heartbeat_mono = :mono, boot_id = :boot_id
WHERE token_hash IS NOT NULL AND owner_kind = :owner_kind AND owner_id = :owner_id;

-- leave_host: the host has stopped by itself
UPDATE host_state
SET host_id = NULL, pid = NULL, boot_id = NULL, process_start = NULL, heartbeat_at = NULL, heartbeat_mono = NULL, capacity = NULL
WHERE id = 1 AND epoch = :epoch AND host_id = :host_id;

-- claims: the claims that are held, oldest heartbeat first
SELECT run_id, generation, owner_kind, owner_id, host_epoch, boot_id, heartbeat_mono, heartbeat_at
FROM run_queue WHERE token_hash IS NOT NULL ORDER BY heartbeat_at, run_id;

-- next_answered: the run whose accepted answer has waited longest for a worker; back-off waits at most :longest
SELECT w.run_id FROM requests w
JOIN run_queue q ON q.run_id = w.run_id AND q.status = 'queued' AND q.available_at NOT BETWEEN :now + 1 AND :now + :longest
JOIN runs r ON r.run_id = w.run_id AND r.workflow_ref NOT LIKE 'inline:%'
WHERE w.status = 'settled' AND w.consumed_at IS NULL AND w.run_id NOT IN (SELECT value FROM json_each(:exclude))
ORDER BY w.settled_at, w.run_id LIMIT 1;

-- next_queued: the run that has been claimable longest; a moment further ahead than :longest is one of a clock set back
SELECT q.run_id FROM run_queue q JOIN runs r ON r.run_id = q.run_id
WHERE q.status = 'queued' AND q.available_at NOT BETWEEN :now + 1 AND :now + :longest AND r.workflow_ref NOT LIKE 'inline:%'
    AND q.run_id NOT IN (SELECT value FROM json_each(:exclude))
ORDER BY q.available_at, r.rowid LIMIT 1;

-- next_available: when the next run becomes claimable
SELECT q.available_at FROM run_queue q JOIN runs r ON r.run_id = q.run_id
WHERE q.status = 'queued' AND r.workflow_ref NOT LIKE 'inline:%' AND q.run_id NOT IN (SELECT value FROM json_each(:exclude))
ORDER BY q.available_at LIMIT 1;

-- insert_worker: a launch and its process
INSERT INTO run_workers (worker_id, run_id, generation, host_epoch, boot_id, pid, process_start, status, started_at, stderr_tail)
VALUES (:worker_id, :run_id, :generation, :host_epoch, :boot_id, :pid, :process_start, 'starting', :at, '');

-- worker_ready: the worker of a generation has loaded its workflow
UPDATE run_workers SET status = 'ready', ready_at = :at WHERE run_id = :run_id AND generation = :generation AND status = 'starting';

-- worker_finished: how a launch ended
UPDATE run_workers
SET status = :status, finished_at = :at, exit_code = :exit_code, signal = :signal, stderr_tail = :stderr_tail
WHERE worker_id = :worker_id AND status IN ('starting', 'ready');

-- alive_workers: launches that no host has seen end, with the attempt that each may be in
SELECT w.worker_id, w.run_id, w.generation, w.host_epoch, w.boot_id, w.pid, w.process_start, a.attempt_id
FROM run_workers w
LEFT JOIN node_attempts a ON a.run_id = w.run_id AND a.finished_at IS NULL
WHERE w.status IN ('starting', 'ready') ORDER BY w.started_at, w.worker_id;

-- orphan_workers: their host is gone
UPDATE run_workers SET status = 'orphaned', finished_at = :at WHERE status IN ('starting', 'ready');

-- newest_worker: the newest launch of a run
SELECT worker_id, pid, status, generation, started_at, ready_at, finished_at, exit_code, signal, stderr_tail
FROM run_workers WHERE run_id = :run_id ORDER BY generation DESC LIMIT 1;

-- claims_of: the runs that an owner holds
SELECT run_id FROM run_queue WHERE token_hash IS NOT NULL AND owner_kind = :owner_kind AND owner_id = :owner_id;

-- stops_now: of these runs, the paused ones whose newest pause asked for their worker to be stopped at once
SELECT r.run_id FROM json_each(:run_ids) j JOIN runs r ON r.run_id = j.value
WHERE r.paused = 1 AND (
    SELECT json_extract(e.payload, '$.stop_now') FROM events e
    WHERE e.run_id = r.run_id AND e.type = 'run_paused' ORDER BY e.seq DESC LIMIT 1);
