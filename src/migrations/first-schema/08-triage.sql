-- The status is queued until the run ends. The row in the table work shows the progress and the next retry.
create table triage_runs (
  id uuid constraint pk_triage_runs primary key,
  incident_id uuid not null constraint fk_triage_runs_incident references incidents (id),
  status text collate "C" not null,
  requested_by text not null,
  force boolean not null default false,
  playbook text,
  notes text[] not null default '{}',
  provider text not null,
  model text,
  prompt_hash text,
  input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cached_input_tokens integer not null default 0,
  tokens_at timestamptz(3),
  duration_ms integer,
  verdict jsonb,
  recommended_actions text[],
  not_applied text,
  points jsonb,
  tool_calls jsonb,
  error jsonb,
  failures integer not null default 0,
  created_at timestamptz(3) not null,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  constraint ck_triage_runs_status check (status in ('queued', 'completed', 'failed')),
  constraint ck_triage_runs_ended check ((completed_at is null) = (status = 'queued')),
  constraint ck_triage_runs_verdict check ((verdict is not null) = (status = 'completed'))
);
create index ix_triage_runs_incident on triage_runs (incident_id, id);
-- An incident has at most one open run: this index decides which of two concurrent requests is first.
create unique index uq_triage_runs_open on triage_runs (incident_id) where status = 'queued';
-- For the sum of the tokens that all replicas used in the last hour.
create index ix_triage_runs_tokens on triage_runs (tokens_at) where tokens_at is not null;
create index ix_triage_runs_failed on triage_runs (id) where status = 'failed';
