-- PostgreSQL's tasks say which node their turn is of; a file has one program, and this is 0.
ALTER TABLE tasks ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
