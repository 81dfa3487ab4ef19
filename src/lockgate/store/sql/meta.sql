-- meta: what the store is
SELECT store_id, shared_group, created_at FROM meta WHERE id = 1;

-- insert_meta: a new store
INSERT INTO meta (id, store_id, shared_group, created_at) VALUES (1, :store_id, :shared_group, :at);

-- schema_size: how many things the schema has
SELECT count(*) FROM sqlite_schema;

-- schema: the names and texts of everything in the schema
SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY type, name;
