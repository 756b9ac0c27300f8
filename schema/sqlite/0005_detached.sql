-- A delegated task that goes on when its parent has ended.
ALTER TABLE tasks ADD COLUMN detached INTEGER NOT NULL DEFAULT 0;
