-- The node (node_id) that a task's turn is of: it has queued or runs it, or has it wait. 0: the task has no turn.
ALTER TABLE tasks ADD COLUMN owner bigint NOT NULL DEFAULT 0;

-- Which delivery of a config is due: a node cannot tell by what it has in memory.
CREATE INDEX deliveries_next ON deliveries (config_key) WHERE due_ms IS NOT NULL;
