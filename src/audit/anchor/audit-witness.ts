import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { timeOfId } from '../../platform/ids.js';
import { GENESIS, type SealedPoint } from '../chain/audit-chain.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import { AuditKeys } from '../chain/audit-keys.js';
import type { ChainEnd } from '../chain/chain-head.js';
import { AuditWriter, type WriterCount } from '../writing/audit-writer.js';
import { lastAcceptedAt } from './accept-head.js';
import { describe } from './logged-head.js';

/** A head of the chain that was seen, and when. */
export interface SeenHead extends SealedPoint {
  readonly at: Date;
}

/** What is known of the trail outside its database. */
export interface Testimony {
  readonly head: SeenHead;
  readonly writers: readonly WriterCount[];
}

const NOTHING: SeenHead = { ...GENESIS, at: new Date(0) };

/** Each start of a process is one more writer; so many are worth remembering. */
const MOST_WRITERS = 16;

/**
 * Remembers, outside the database, where the chain ended and how many rows were written. A chain that does not lead
 * through that head was put back to an earlier state, or made again. The restore of a backup looks the same, so a person
 * may accept it (see acceptHead).
 */
@Injectable()
export class AuditWitness {
  private readonly logger = new Logger(AuditWitness.name);
  private lastSeen = NOTHING;
  private otherWriters: readonly WriterCount[] = [];
  private lastAccepted = 0;
  private comparedAt = NOTHING.at;
  private wentBack = false;

  constructor(
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly writer: AuditWriter,
    private readonly clock: Clock,
  ) {}

  get head(): SeenHead {
    return this.lastSeen;
  }

  /** The chain does not lead through the head that this process has seen. */
  get rewound(): boolean {
    return this.wentBack;
  }

  /** When somebody last accepted the trail as it was, in milliseconds. */
  get acceptedAt(): number {
    return this.lastAccepted;
  }

  testimony(): Testimony {
    const { id, written } = this.writer;
    return { head: this.lastSeen, writers: [...this.otherWriters, { writer: id, written }] };
  }

  /** Takes over what another process has seen, or this one before its last start. */
  learn({ head, writers }: Testimony): void {
    if (head.seq > this.lastSeen.seq && head.at.getTime() > this.lastAccepted) {
      this.lastSeen = head;
    }
    const others = writers.filter(({ writer }) => writer !== this.writer.id);
    this.otherWriters = merged(this.otherWriters, others);
  }

  /** Checks that the chain leads through the head that was seen. */
  async compareWith(manager: EntityManager, end: ChainEnd): Promise<void> {
    await this.lookForAcceptance(manager, end);
    this.comparedAt = this.clock.now();
    const leadsThrough = await this.chain.leadsThrough(manager, this.lastSeen);
    if (!leadsThrough && !this.wentBack) {
      this.logger.error(
        `The audit chain went back: it was seen to reach ${describe(this.lastSeen)} and now ends at ${describe(end.lastSeal)}. After the restore of a backup that is right: npm run audit -- accept-head.`,
      );
    }
    this.wentBack = !leadsThrough;
  }

  /**
   * To be called once the seal has committed. The head counts as seen from the moment of the last comparison, and not of
   * this call: a restore waits for the commit, so what it then accepts is later, however late this call comes.
   */
  sawHead({ seq, hash }: SealedPoint): void {
    if (!this.wentBack && seq > this.lastSeen.seq) {
      this.lastSeen = { seq, hash, at: this.comparedAt };
    }
  }

  /** Forgets what was seen before somebody accepted the trail. */
  private async lookForAcceptance(manager: EntityManager, end: ChainEnd): Promise<void> {
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    if (acceptedAt <= this.lastAccepted) return;
    this.lastAccepted = acceptedAt;
    this.otherWriters = this.otherWriters.filter(({ writer }) => timeOfId(writer) > acceptedAt);
    if (timeOfId(this.writer.id) <= acceptedAt) this.writer.startNewId();
    if (this.lastSeen.at.getTime() > acceptedAt) return;
    if (this.wentBack) this.logger.warn('The audit chain as it is was accepted for the right one.');
    const { seq, hash } = end.lastSeal;
    this.lastSeen = { seq, hash, at: this.clock.now() };
  }
}

/** The highest count of each writer, of the youngest writers. */
function merged(some: readonly WriterCount[], more: readonly WriterCount[]): WriterCount[] {
  const byWriter = new Map(some.map((count) => [count.writer, count]));
  for (const count of more) {
    if (count.written > (byWriter.get(count.writer)?.written ?? -1)) {
      byWriter.set(count.writer, count);
    }
  }
  // The id of a writer begins with its time.
  return [...byWriter.values()].sort((a, b) => (a.writer < b.writer ? -1 : 1)).slice(-MOST_WRITERS);
}
