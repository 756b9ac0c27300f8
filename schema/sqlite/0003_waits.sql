-- When a turn that waits goes on: once at most so many children are awaited (negative: never), once one has failed, or at
-- a time; and whether a child has failed since the turn began.
ALTER TABLE tasks ADD COLUMN waits_open_max INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN waits_on_failure INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN waits_until_ms INTEGER;
ALTER TABLE tasks ADD COLUMN child_failed INTEGER NOT NULL DEFAULT 0;
