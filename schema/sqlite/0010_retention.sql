-- One row. kept_before: 1 if the database had tasks when it came to this schema; then nothing of it ages until retention
-- is configured. last_task: no task has a key up to this one again, as sends remember the keys of tasks that are gone.
CREATE TABLE retention (
  kept_before INTEGER NOT NULL,
  last_task   INTEGER NOT NULL
) STRICT;
INSERT INTO retention (kept_before, last_task) SELECT EXISTS (SELECT 1 FROM tasks), 0;

-- Tasks that are gone but for the rest of their long logs, which goes bit by bit. erased: it is overwritten too.
CREATE TABLE removed_logs (
  task_key INTEGER PRIMARY KEY,
  erased   INTEGER NOT NULL
) STRICT;
