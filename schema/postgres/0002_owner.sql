-- The node (node_id) that a task's turn is of: it has queued or runs it, or has it wait. 0: the task has no turn.
ALTER TABLE tasks ADD COLUMN owner bigint NOT NULL DEFAULT 0;
