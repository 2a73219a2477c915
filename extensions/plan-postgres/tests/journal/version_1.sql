-- A database of version 1 with a run: the statements of that version, and the rows of a killed process.
CREATE SCHEMA plan;
CREATE TABLE plan.version (version integer NOT NULL);
INSERT INTO plan.version VALUES (1);
CREATE SEQUENCE plan.epochs;
CREATE TABLE plan.owners (
    name text PRIMARY KEY,
    words text NOT NULL,
    lease timestamptz NOT NULL
);
CREATE TABLE plan.runs (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id bytea NOT NULL UNIQUE,
    epoch bigint NOT NULL,
    owner text,
    began bigint NOT NULL,
    ended timestamptz,
    end_kind smallint,
    last_message bigint NOT NULL DEFAULT 0,
    plan bytea,
    document bytea,
    inputs bytea,
    output bytea
);
CREATE TABLE plan.records (
    run bigint NOT NULL,
    number bigint NOT NULL,
    key bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE UNIQUE INDEX records_key ON plan.records (run, sha256(key));
CREATE TABLE plan.messages (
    run bigint NOT NULL,
    number bigint NOT NULL,
    path bytea,
    body bytea,
    token bigint NOT NULL,
    PRIMARY KEY (run, number)
);
CREATE UNIQUE INDEX messages_path ON plan.messages (run, sha256(path));
INSERT INTO plan.owners VALUES ('killed', 'process 7', now() - interval '1 s');
INSERT INTO plan.runs (id, epoch, owner, began, last_message, plan, document, inputs)
VALUES ('old', nextval('plan.epochs'), 'killed', 1700000000000000000, 3, 'plan', '{}', '{}');
INSERT INTO plan.records VALUES (1, 1, '0', '0'), (1, 2, '1', '1');
-- The numbers 2 and 3 are those of refused messages.
INSERT INTO plan.messages VALUES (1, 1, 'a', '1', 17);
