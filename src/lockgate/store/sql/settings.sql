-- save_settings: the live settings of a scope
INSERT INTO workflow_settings (scope_id, run_id, mount_path, invocation, initial_hash, current_hash, change_number,
    created_at, updated_at)
VALUES (:scope_id, :run_id, :mount_path, :invocation, :initial_hash, :current_hash, :change_number, :created_at, :updated_at)
ON CONFLICT (scope_id) DO UPDATE
SET current_hash = excluded.current_hash, change_number = excluded.change_number, updated_at = excluded.updated_at;

-- save_change: one accepted patch; it never changes
INSERT INTO workflow_setting_changes (change_id, scope_id, run_id, change_number, actor_kind, actor_id, source, patch_hash,
    before_hash, after_hash, accepted_at)
VALUES (:change_id, :scope_id, :run_id, :change_number, :actor_kind, :actor_id, :source, :patch_hash,
    :before_hash, :after_hash, :accepted_at);

-- root_settings: the live settings of a run's own scope
SELECT s.* FROM workflow_settings s WHERE s.run_id = :run_id AND s.mount_path = '$root' AND s.invocation = 1;

-- settings_of: the scopes of a run
SELECT s.* FROM workflow_settings s WHERE s.run_id = :run_id ORDER BY s.mount_path, s.invocation;

-- newest_settings_of: the newest scope of each mount of a run, whatever the number of its invocations
WITH RECURSIVE mounts (path) AS (
    SELECT min(mount_path) FROM workflow_settings WHERE run_id = :run_id
    UNION ALL
    SELECT (SELECT min(mount_path) FROM workflow_settings WHERE run_id = :run_id AND mount_path > mounts.path)
    FROM mounts WHERE mounts.path IS NOT NULL)
SELECT s.* FROM mounts JOIN workflow_settings s ON s.run_id = :run_id AND s.mount_path = mounts.path AND s.invocation = (
    SELECT max(n.invocation) FROM workflow_settings n WHERE n.run_id = :run_id AND n.mount_path = mounts.path)
ORDER BY s.mount_path;

-- changes_of: the changes of a run's settings, oldest first
SELECT c.* FROM workflow_setting_changes c WHERE c.run_id = :run_id ORDER BY c.scope_id, c.change_number LIMIT :limit;
