import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity('secret_keys')
export class SecretKeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_secret_keys' })
  readonly id: string;

  @Column({ type: 'bytea', nullable: true })
  readonly verifier: Buffer | null;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly known_since: Date;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly last_used_at: Date | null;

  @Column({ type: 'timestamptz', precision: 3, nullable: true })
  readonly retired_at: Date | null;
}
