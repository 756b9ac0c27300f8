-- Turns that ran when their program died, until they have ended. Few, and written at starts and when a node takes over.
CREATE TABLE crashed_turns (
  task_key       bigint PRIMARY KEY,
  turn           bigint NOT NULL,  -- of the task; a row for another turn than the task has counts for nothing
  deaths         bigint NOT NULL,  -- counted, in a row, without output in between
  alone          bigint NOT NULL,  -- of them, while it was the only suspect that ran on its node
  last_event     bigint NOT NULL,  -- of the task, once the last one was counted
  seen           bigint NOT NULL,  -- 1: another death is to be counted; 2: likewise, as the only suspect
  quarantined_ms bigint NOT NULL   -- since when; 0: it is not
);

-- SQLite's: whether its program was asked to stop. Here `nodes` says so, and this is 1.
ALTER TABLE server ADD COLUMN stopped bigint NOT NULL DEFAULT 1;
