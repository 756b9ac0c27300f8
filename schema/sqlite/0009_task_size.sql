-- The size of a task, and turns that are answered by a message without a task.

-- The bytes of all event bodies in the task's log. Short logs of older databases count as empty: they are small.
ALTER TABLE tasks ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET bytes = (
  SELECT coalesce(sum(length(e.body)), 0) FROM events e
  WHERE e.event_key > (tasks.task_key << 28) AND e.event_key < ((tasks.task_key + 1) << 28))
WHERE indexed = 1;

-- 1: no caller sees this task, as it was answered by a message alone. Hidden tasks are in no list and no total.
ALTER TABLE tasks ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
DROP INDEX tasks_listed;
DROP INDEX tasks_in_context;
CREATE INDEX tasks_listed ON tasks (agent, caller, status_ms, public_id, state)
  WHERE turn_state = 'none' AND hidden = 0;
CREATE INDEX tasks_in_context ON tasks (context_key, status_ms, public_id, state)
  WHERE turn_state = 'none' AND hidden = 0 AND context_key <> 0;
