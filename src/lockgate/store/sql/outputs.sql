-- end_of_output: the newest chunk of an attempt and the size of all that it wrote
SELECT chunk, start_at + length(content) FROM attempt_output
WHERE run_id = :run_id AND attempt_id = :attempt_id ORDER BY chunk DESC LIMIT 1;

-- insert_chunk: what an attempt wrote
INSERT INTO attempt_output (run_id, attempt_id, chunk, stream, start_at, at, content)
VALUES (:run_id, :attempt_id, :chunk, :stream, :start_at, :at, :content);

-- drop_middle: what lies between the kept beginning and the kept end
DELETE FROM attempt_output
WHERE run_id = :run_id AND attempt_id = :attempt_id AND start_at >= :head AND start_at + length(content) <= :tail;

-- chunks: a window of an attempt's output in its order
SELECT attempt_id, stream, chunk, at, start_at, content FROM attempt_output
WHERE run_id = :run_id AND attempt_id = :attempt_id AND chunk > :after ORDER BY chunk LIMIT :limit;

-- end_before: where the chunk before a window ended
SELECT start_at + length(content) FROM attempt_output
WHERE run_id = :run_id AND attempt_id = :attempt_id AND chunk <= :after ORDER BY chunk DESC LIMIT 1;
