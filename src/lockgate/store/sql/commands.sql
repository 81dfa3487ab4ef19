-- command: what a key was used for
SELECT command, fingerprint, receipt FROM commands WHERE key = :key;

-- insert_command: a command that was taken, with its receipt
INSERT INTO commands (key, command, fingerprint, actor, run_id, receipt, at)
VALUES (:key, :command, :fingerprint, :actor, :run_id, :receipt, :at);
