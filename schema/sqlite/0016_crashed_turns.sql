-- Turns that ran when the program died, until they have ended. Few, and written at starts alone.
CREATE TABLE crashed_turns (
  task_key       INTEGER PRIMARY KEY,
  turn           INTEGER NOT NULL,  -- of the task; a row for another turn than the task has counts for nothing
  deaths         INTEGER NOT NULL,  -- counted, in a row, without output in between
  alone          INTEGER NOT NULL,  -- of them, while it was the only suspect that ran
  last_event     INTEGER NOT NULL,  -- of the task, once the last one was counted
  seen           INTEGER NOT NULL,  -- 1: another death is to be counted; 2: likewise, as the only suspect
  quarantined_ms INTEGER NOT NULL   -- since when; 0: it is not
) STRICT;

-- Whether the program was asked to stop, or has not begun; 0: it runs, or has died. A file from before counts as stopped.
ALTER TABLE server ADD COLUMN stopped INTEGER NOT NULL DEFAULT 1;
