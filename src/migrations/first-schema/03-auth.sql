-- Rows of deleted users and revoked keys stay, so that a name in an audit record always means the same person.
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
  password_made_up boolean not null default false,
  constraint ck_users_username check (username ~ '^[a-z0-9][a-z0-9._@-]{1,62}$' and username <> 'system'),
  constraint ck_users_role check (role in ('viewer', 'analyst', 'senior', 'manager', 'admin')),
  constraint ck_users_password_hash check ((password_hash is null) = (deleted_at is not null))
);
create index ix_users_created_at on users (created_at, id) where deleted_at is null;

-- network: an IPv4 address, or the /64 network of an IPv6 address, as text. The limits per address use the same form.
create table known_networks (
  user_id uuid not null constraint fk_known_networks_user_id references users (id) on delete cascade,
  network text not null,
  last_seen_at timestamptz(3) not null default now(),
  constraint pk_known_networks primary key (user_id, network),
  constraint ck_known_networks_network check (length(network) between 1 and 64)
);
create index ix_known_networks_last_seen_at on known_networks (last_seen_at);

-- owner_id: the owner, even if another key created the key. Null for keys that come from the first start.
create table api_keys (
  id uuid constraint pk_api_keys primary key,
  name text not null constraint uq_api_keys_name unique,
  role text not null,
  prefix text not null constraint uq_api_keys_prefix unique,
  secret_hash bytea not null,
  limits jsonb,
  created_by text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  owner_id uuid constraint fk_api_keys_owner_id references users (id),
  limit_class text not null default 'standard',
  constraint ck_api_keys_role check (role in ('viewer', 'analyst', 'senior', 'manager', 'admin')),
  constraint ck_api_keys_prefix check (prefix ~ '^[A-Za-z0-9]{8}$'),
  constraint ck_api_keys_secret_hash check (octet_length(secret_hash) = 32),
  constraint ck_api_keys_limit_class check (limit_class in ('standard', 'integration'))
);
create index ix_api_keys_created_at on api_keys (created_at, id) where revoked_at is null;
create index ix_api_keys_created_by on api_keys (created_by, created_at, id) where revoked_at is null;
create index ix_api_keys_owner_id on api_keys (owner_id) where revoked_at is null;

create table sessions (
  id uuid constraint pk_sessions primary key,
  token_hash bytea not null constraint uq_sessions_token_hash unique,
  user_id uuid not null constraint fk_sessions_user_id references users (id) on delete cascade,
  created_at timestamptz(3) not null default now(),
  last_seen_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  address text,
  user_agent text,
  constraint ck_sessions_token_hash check (octet_length(token_hash) = 32),
  constraint ck_sessions_user_agent check (length(user_agent) <= 256)
);
create index ix_sessions_user_id on sessions (user_id);
create index ix_sessions_last_seen_at on sessions (last_seen_at);
