-- +goose Up

CREATE TABLE installation (
    id         bigint      PRIMARY KEY,  -- GitHub's id of the installation
    account    text        NOT NULL,     -- login of the organisation or user
    state      text        NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'enabled', 'disabled', 'deleted')),
    suspended  boolean     NOT NULL DEFAULT false,  -- by GitHub; comes and goes whatever the state
    name       text        UNIQUE        -- the address below the front; null until enabled
        CHECK (name ~ '^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$'),
    epoch      bigint      NOT NULL DEFAULT 1,  -- raised by whatever may change who reads what
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    CHECK (state <> 'enabled' OR name IS NOT NULL)
);

CREATE INDEX installation_account ON installation (lower(account));

CREATE TABLE repository (
    id              bigint      PRIMARY KEY,  -- GitHub's id of the repository
    installation_id bigint      NOT NULL REFERENCES installation ON DELETE CASCADE,
    node_id         text        NOT NULL,
    name            text        NOT NULL,
    full_name       text        NOT NULL,
    default_branch  text        NOT NULL,
    active          boolean     NOT NULL DEFAULT true,
    wanted_gen      bigint      NOT NULL DEFAULT 1,  -- raised by every push
    done_gen        bigint      NOT NULL DEFAULT 0 CHECK (done_gen <= wanted_gen),
    indexed_head    text        NOT NULL DEFAULT '',
    vault_rev       text        NOT NULL DEFAULT '',
    complete        boolean     NOT NULL DEFAULT false,
    progress_done   bigint      NOT NULL DEFAULT 0,
    progress_total  bigint      NOT NULL DEFAULT 0,
    findings        json        NOT NULL DEFAULT '[]',  -- json: it may quote a NUL, which jsonb refuses
    error           text        NOT NULL DEFAULT '',  -- why the last run failed; for operators
    inactive_since  timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX repository_installation ON repository (installation_id, name);

CREATE TABLE delivery (
    guid            text        PRIMARY KEY,  -- GitHub's id of the webhook delivery
    event           text        NOT NULL,
    action          text        NOT NULL,
    installation_id bigint      NOT NULL,  -- 0: the event names none
    repository_id   bigint      NOT NULL,  -- 0: the event names none
    received_at     timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX delivery_received ON delivery (received_at);

-- The sets of repositories that callers were found to read: for each, the
-- answers of the list methods are kept ready.
CREATE TABLE reader_set (
    installation_id bigint      NOT NULL REFERENCES installation ON DELETE CASCADE,
    hash            bytea       NOT NULL,
    repository_ids  bigint[]    NOT NULL,  -- ascending
    last_seen       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (installation_id, hash)
);

-- One view per set and version of the contract. While a deployment rolls,
-- two versions serve side by side.
CREATE TABLE view (
    installation_id bigint      NOT NULL,
    set_hash        bytea       NOT NULL,
    contract        text        NOT NULL,
    rev             text        NOT NULL,
    body            bytea       NOT NULL,
    built_at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (installation_id, set_hash, contract),
    FOREIGN KEY (installation_id, set_hash) REFERENCES reader_set ON DELETE CASCADE
);
