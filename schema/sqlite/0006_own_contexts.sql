-- Less to write for a task that is alone in its context, as most are.

-- A task whose context_key is 0 is the only one of a context that was made for it: what there is to know of the
-- context is in the task's row and log. The context gets its rows, with the key -task_key, when there is more to it.
-- This row is what such tasks refer to.
INSERT INTO contexts (context_key, agent, caller, public_id, created_ms) VALUES (0, '', '', '', 0);

DROP INDEX tasks_in_context;
CREATE INDEX tasks_in_context ON tasks (context_key, status_ms, public_id, state)
  WHERE turn_state = 'none' AND context_key <> 0;
