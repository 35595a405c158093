import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Logins1795001000000 implements MigrationInterface {
  readonly name = 'Logins1795001000000';

  async up(runner: QueryRunner): Promise<void> {
    // An IPv4 address or the /64 of an IPv6 one, as text: what limits by address count by.
    await runner.query(`
      create table known_networks (
        user_id uuid not null constraint fk_known_networks_user_id references users (id) on delete cascade,
        network text not null,
        last_seen_at timestamptz(3) not null default now(),
        constraint pk_known_networks primary key (user_id, network),
        constraint ck_known_networks_network check (length(network) between 1 and 64)
      )`);
    await runner.query(
      `create index ix_known_networks_last_seen_at on known_networks (last_seen_at)`,
    );
    await runner.query(
      `alter table users add column password_made_up boolean not null default false`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table users drop column password_made_up`);
    await runner.query(`drop table known_networks`);
  }
}
