-- Ids of the tool calls of a context: chat clients keep calls by their ids, so none is used twice there.
CREATE TABLE calls (
  context_key INTEGER NOT NULL REFERENCES contexts,
  call_id     TEXT    NOT NULL,
  PRIMARY KEY (context_key, call_id)
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO calls
  SELECT t.context_key, json_extract(e.body, '$.i') FROM events e JOIN tasks t ON t.task_key = e.task_key
  WHERE e.kind = 5 AND iif(json_valid(e.body), json_type(e.body, '$.i'), NULL) = 'text';
