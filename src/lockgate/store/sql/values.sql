-- save_value: keep a value once, by the hash of its bytes
INSERT INTO blobs (hash, content) VALUES (:hash, :content) ON CONFLICT (hash) DO NOTHING;

-- value: the bytes of a value
SELECT content FROM blobs WHERE hash = :hash;

-- has_value: whether a value is stored
SELECT 1 FROM blobs WHERE hash = :hash;

-- value_part: a part of a value's bytes, from 1, and the whole size
SELECT substr(content, :first, :count), length(content) FROM blobs WHERE hash = :hash;
