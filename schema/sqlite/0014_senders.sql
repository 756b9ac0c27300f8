-- PostgreSQL's deliveries say which node sends them; a file has one program, and this is 0.
ALTER TABLE deliveries ADD COLUMN sender INTEGER NOT NULL DEFAULT 0;
