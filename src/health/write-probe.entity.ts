import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Always empty: the database's function `probe_writes` writes a row here and takes it back. */
@Entity('write_probe')
export class WriteProbeEntity {
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_write_probe' })
  readonly id: string;

  @Column({ type: 'text' })
  readonly filler: string;
}
