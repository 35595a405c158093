import type { MigrationInterface, QueryRunner } from 'typeorm';

export class AuditAttestations1795001510000 implements MigrationInterface {
  readonly name = 'AuditAttestations1795001510000';

  async up(runner: QueryRunner): Promise<void> {
    // What a later key says about seals of earlier ones: one MAC of 32 bytes for each seal from first_seq to last_seq.
    await runner.query(`
      create table audit_attestations (
        first_seq bigint constraint pk_audit_attestations primary key,
        last_seq bigint not null,
        macs bytea not null,
        key_id text not null,
        constraint ck_audit_attestations_macs check (octet_length(macs) = 32 * (last_seq - first_seq + 1))
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`drop table audit_attestations`);
  }
}
