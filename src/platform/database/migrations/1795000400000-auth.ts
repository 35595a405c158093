import type { MigrationInterface, QueryRunner } from 'typeorm';

const ROLES = `('viewer', 'analyst', 'senior', 'manager', 'admin')`;

export class Auth1795000400000 implements MigrationInterface {
  readonly name = 'Auth1795000400000';

  async up(runner: QueryRunner): Promise<void> {
    // Rows of deleted users and revoked keys stay, so that no name in a record ever comes to mean someone else.
    await runner.query(`
      create table users (
        id uuid constraint pk_users primary key,
        username text not null constraint uq_users_username unique,
        role text not null,
        enabled boolean not null default true,
        password_hash text,
        created_at timestamptz(3) not null default now(),
        updated_at timestamptz(3) not null default now(),
        last_login_at timestamptz(3),
        deleted_at timestamptz(3),
        constraint ck_users_username check (username ~ '^[a-z0-9][a-z0-9._@-]{1,62}$' and username <> 'system'),
        constraint ck_users_role check (role in ${ROLES}),
        constraint ck_users_password_hash check ((password_hash is null) = (deleted_at is not null))
      )`);
    await runner.query(
      `create index ix_users_created_at on users (created_at, id) where deleted_at is null`,
    );
    await runner.query(`
      create table api_keys (
        id uuid constraint pk_api_keys primary key,
        name text not null constraint uq_api_keys_name unique,
        role text not null,
        prefix text not null constraint uq_api_keys_prefix unique,
        secret_hash bytea not null,
        limit_read integer,
        limit_write integer,
        limit_triage integer,
        created_by text not null,
        created_at timestamptz(3) not null default now(),
        expires_at timestamptz(3),
        last_used_at timestamptz(3),
        revoked_at timestamptz(3),
        constraint ck_api_keys_role check (role in ${ROLES}),
        constraint ck_api_keys_prefix check (prefix ~ '^[A-Za-z0-9]{8}$'),
        constraint ck_api_keys_secret_hash check (octet_length(secret_hash) = 32),
        constraint ck_api_keys_limits check (limit_read >= 0 and limit_write >= 0 and limit_triage >= 0)
      )`);
    await runner.query(
      `create index ix_api_keys_created_at on api_keys (created_at, id) where revoked_at is null`,
    );
    await runner.query(`
      create table sessions (
        id uuid constraint pk_sessions primary key,
        token_hash bytea not null constraint uq_sessions_token_hash unique,
        user_id uuid not null constraint fk_sessions_user_id references users (id) on delete cascade,
        created_at timestamptz(3) not null default now(),
        last_seen_at timestamptz(3) not null default now(),
        expires_at timestamptz(3) not null,
        constraint ck_sessions_token_hash check (octet_length(token_hash) = 32)
      )`);
    await runner.query(`create index ix_sessions_user_id on sessions (user_id)`);
    await runner.query(`create index ix_sessions_last_seen_at on sessions (last_seen_at)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table sessions, api_keys, users`);
  }
}
