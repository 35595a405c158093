import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { UserEntity } from '../users/user.entity.js';

const PRIMARY_KEY = { primaryKeyConstraintName: 'pk_known_networks' };

@Entity('known_networks')
@Check('ck_known_networks_network', `length(network) between 1 and 64`)
@Index('ix_known_networks_last_seen_at', ['last_seen_at'])
export class KnownNetworkEntity {
  @PrimaryColumn({ type: 'uuid', ...PRIMARY_KEY })
  @ForeignKey(() => UserEntity, { name: 'fk_known_networks_user_id', onDelete: 'CASCADE' })
  readonly user_id: string;

  @PrimaryColumn({ type: 'text', ...PRIMARY_KEY })
  readonly network: string;

  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' })
  readonly last_seen_at: Date;
}
