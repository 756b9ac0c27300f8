-- The node (node_id) that writes down the tasks of a job, which is abandoned if that node is gone. 0: not known.
ALTER TABLE bulk_jobs ADD COLUMN node bigint NOT NULL DEFAULT 0;
