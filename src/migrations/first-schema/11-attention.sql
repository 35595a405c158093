create table attention_marks (
  kind text collate "C" not null,
  subject text collate "C" not null,
  at timestamptz not null,
  done_by text not null,
  done_at timestamptz(3) not null default now(),
  reason text not null,
  constraint pk_attention_marks primary key (kind, subject)
);
