import type { DataSource, EntityManager } from 'typeorm';
import { Injectable, Logger } from '@nestjs/common';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { HEAD_ACCEPTED } from '../audit-entry.js';
import { type AuditLog, logOfCommand } from '../audit-log.js';
import {
  isGenuine,
  AuditKeys,
  hex,
  type SealedPoint,
  GENESIS,
  type ChainEnd,
} from '../chain/audit-chain.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import { Clock } from '../../platform/clock.js';

/**
 * Accepts the trail as it is, after the restore of a backup or after its seals were made again. The acceptance is an
 * entry of the trail, which requires the key. Every process that finds the entry discards its earlier knowledge of the
 * trail.
 */
export async function acceptHead(
  dataSource: DataSource,
  keys: AuditKeys,
  reason: string,
): Promise<void> {
  const log = logOfCommand(dataSource, keys);
  await new Transactions(dataSource).run((tx) => recordAcceptance(tx, log, reason));
}

/** Accepts the trail in the transaction that changes it. */
export async function recordAcceptance(tx: Tx, log: AuditLog, reason: string): Promise<void> {
  await log.record(tx, {
    actor: 'system',
    action: HEAD_ACCEPTED,
    subject: { type: 'audit', id: 'head' },
    details: { reason },
  });
}

/** Time of the last acceptance in milliseconds; 0 if there is none. */
export async function lastAcceptedAt(
  manager: EntityManager,
  chain: AuditChainRepository,
  keys: AuditKeys,
): Promise<number> {
  const row = await chain.lastAcceptance(manager);
  return row && isGenuine(row, keys.rows) ? row.at.getTime() : 0;
}

function describe({ seq, hash }: SealedPoint): string {
  return `${seq} ${hex(hash)}`;
}

/** A head of the chain and when it was seen. */
export interface SeenHead extends SealedPoint {
  readonly at: Date;
}

const NOTHING: SeenHead = { ...GENESIS, at: new Date(0) };

/**
 * Remembers the end of the chain outside the database. If the chain no longer contains
 * that end, it was set back or made again. The restore of a backup looks the same, so an operator can accept it (see
 * acceptHead).
 */
@Injectable()
export class AuditWitness {
  private readonly logger = new Logger(AuditWitness.name);
  private lastSeen = NOTHING;
  private lastAccepted = 0;
  private comparedAt = NOTHING.at;
  private wentBack = false;

  constructor(
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
  ) {}

  get head(): SeenHead {
    return this.lastSeen;
  }

  /** Whether the chain no longer contains the head that this process has seen. */
  get rewound(): boolean {
    return this.wentBack;
  }

  /** Time of the last acceptance, in milliseconds. */
  get acceptedAt(): number {
    return this.lastAccepted;
  }

  /** Adopts the knowledge of another process, or of this service before its last start. */
  learn(head: SeenHead): void {
    if (head.seq > this.lastSeen.seq && head.at.getTime() > this.lastAccepted) {
      this.lastSeen = head;
    }
  }

  /** Checks that the chain contains the head that was seen. */
  async compareWith(manager: EntityManager, end: ChainEnd): Promise<void> {
    await this.lookForAcceptance(manager, end);
    this.comparedAt = this.clock.now();
    const leadsThrough = await this.chain.leadsThrough(manager, this.lastSeen);
    if (!leadsThrough && !this.wentBack) {
      this.logger.error(
        `The audit chain was set back: it had reached ${describe(this.lastSeen)} and now ends at ${describe(end.lastSeal)}. If a backup was restored, run npm run audit -- accept-head.`,
      );
    }
    this.wentBack = !leadsThrough;
  }

  /**
   * Call it after the seal has committed. The head counts as seen at the last comparison, so that the acceptance of a
   * restore that waited for the commit is later.
   */
  sawHead({ seq, hash }: SealedPoint): void {
    if (!this.wentBack && seq > this.lastSeen.seq) {
      this.lastSeen = { seq, hash, at: this.comparedAt };
    }
  }

  /** Discards knowledge that is older than the acceptance. */
  private async lookForAcceptance(manager: EntityManager, end: ChainEnd): Promise<void> {
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    if (acceptedAt <= this.lastAccepted) return;
    this.lastAccepted = acceptedAt;
    if (this.lastSeen.at.getTime() > acceptedAt) return;
    if (this.wentBack) this.logger.warn('The audit chain was accepted as it is.');
    const { seq, hash } = end.lastSeal;
    this.lastSeen = { seq, hash, at: this.clock.now() };
  }
}
