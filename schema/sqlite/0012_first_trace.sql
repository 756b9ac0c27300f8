-- The trace that a task's first message came with, in the row that its making writes anyway. Those of later messages,
-- and of tasks made before, are in turn_requests. Empty: none.
ALTER TABLE tasks ADD COLUMN trace TEXT NOT NULL DEFAULT '';
