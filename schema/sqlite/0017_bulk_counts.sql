-- Of a job that is prepared: whether its tasks are all written down and counted, so that it waits for its number to be confirmed.
ALTER TABLE bulk_jobs ADD COLUMN counted INTEGER NOT NULL DEFAULT 0;
