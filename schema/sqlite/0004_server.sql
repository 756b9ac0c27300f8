-- This database's name to other servers (src/engine/options.h, `node`). One row, made once.
CREATE TABLE server (name TEXT NOT NULL);
INSERT INTO server (name) VALUES (lower(hex(randomblob(8))));
