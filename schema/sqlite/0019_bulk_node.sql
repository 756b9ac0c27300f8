-- PostgreSQL's jobs say which node writes down their tasks; a file has one program, and this is 0.
ALTER TABLE bulk_jobs ADD COLUMN node INTEGER NOT NULL DEFAULT 0;
