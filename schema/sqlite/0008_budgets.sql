-- What a task and those below it may take, as JSON (src/store/budget_codec.h); NULL: no bound of its own.
ALTER TABLE tasks ADD COLUMN budget TEXT;
