-- What a task and those below it have used: tokens of models, and how many tasks there are below it.
ALTER TABLE tasks ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN children INTEGER NOT NULL DEFAULT 0;
