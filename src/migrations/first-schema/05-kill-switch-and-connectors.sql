create table kill_switch (
  only_row boolean constraint pk_kill_switch primary key default true,
  active boolean not null default false,
  reason text,
  activated_by text,
  activated_at timestamptz(3),
  deactivated_by text,
  deactivated_at timestamptz(3),
  deactivation_reason text,
  constraint ck_kill_switch_only_row check (only_row),
  constraint ck_kill_switch_active check (
    not active
    or (reason is not null and activated_by is not null and activated_at is not null and deactivated_at is null)
  )
);
insert into kill_switch default values;

-- A deleted connector keeps its row, without secrets: actions refer to it, and an empty table means a first start.
-- unhealthy_reported_at: null if no event about a failure was sent, or if the connector has recovered since.
create table connectors (
  id uuid constraint pk_connectors primary key,
  name text not null,
  type text not null,
  enabled boolean not null,
  priority integer not null,
  config jsonb not null,
  secrets text,
  secret_names text[] not null default '{}',
  version integer not null default 1,
  health text,
  health_message text,
  latency_ms integer,
  last_checked_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  unhealthy_reported_at timestamptz(3),
  constraint ck_connectors_health check (health in ('healthy', 'degraded', 'unhealthy')),
  constraint ck_connectors_deleted check (deleted_at is null or (secrets is null and not enabled))
);
create unique index uq_connectors_name on connectors (name) where deleted_at is null;
