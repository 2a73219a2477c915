PRAGMA application_id = 1886151022;
PRAGMA user_version = 3;
CREATE TABLE runs(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  epoch INTEGER NOT NULL,
  owner TEXT,
  began INTEGER NOT NULL, -- in nanoseconds since 1970, as `ended`
  ended INTEGER,
  failed INTEGER,
  plan TEXT -- nothing until it is described
, rests INTEGER, reason TEXT, waits INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX owned ON runs(owner) WHERE owner IS NOT NULL;
CREATE INDEX running ON runs(number) WHERE ended IS NULL;
CREATE INDEX ended ON runs(ended, number) WHERE ended IS NOT NULL;
CREATE TABLE descriptions(run INTEGER PRIMARY KEY, document TEXT NOT NULL, inputs TEXT NOT NULL) STRICT;
CREATE TABLE ends(run INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE records(
  position INTEGER PRIMARY KEY CHECK (position >> 32 = run),
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX keys ON records(run, key);
CREATE TABLE messages(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  path TEXT, -- of a signal, as `body`; without them, it is a cancellation
  body TEXT
) STRICT;
CREATE INDEX sent ON messages(run, number);
CREATE UNIQUE INDEX signals ON messages(run, path) WHERE path IS NOT NULL;
CREATE TABLE deleted(run INTEGER PRIMARY KEY) STRICT;
CREATE INDEX resting ON runs(rests, number) WHERE ended IS NULL;
INSERT INTO runs VALUES(1, 'killed', 1, '1-00000000000000ff', 1795000000000000001, NULL, NULL, 'plan', NULL, NULL, 0);
INSERT INTO runs VALUES(2, 'waits', 2, NULL, 1795000000000000002, NULL, NULL, 'plan', NULL, NULL, 0);
INSERT INTO runs VALUES(3, 'failed', 3, NULL, 1795000000000000003, 1795000001000000000, 1, 'plan', NULL, NULL, 0);
INSERT INTO runs VALUES(4, 'asked for', 4, NULL, 1795000000000000004, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO descriptions VALUES(1, '{}', '{}');
INSERT INTO descriptions VALUES(2, '{}', '{}');
INSERT INTO descriptions VALUES(3, '{}', '{}');
INSERT INTO ends VALUES(3, '["no"]');
INSERT INTO records VALUES(4294967297, 1, 'a@1', '"a@1"');
INSERT INTO records VALUES(4294967298, 1, 'it''s[2]@1', '"it''s[2]@1"');
INSERT INTO records VALUES(17179869185, 4, 'c', '"c"');
INSERT INTO records VALUES(38654705665, 9, 'left', '0');
INSERT INTO messages VALUES(1, 1, 'b', '{"it''s":1}');
INSERT INTO messages VALUES(2, 2, NULL, NULL);
INSERT INTO deleted VALUES(9);
