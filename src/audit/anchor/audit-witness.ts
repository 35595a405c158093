import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { timeOfId } from '../../platform/ids.js';
import { GENESIS, type SealedPoint } from '../chain/audit-chain.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import { AuditKeys } from '../chain/audit-keys.js';
import { AuditWriter, type WriterCount } from '../writing/audit-writer.js';
import type { ChainEnd } from '../chain/chain-head.js';
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

/**
 * Remembers, outside the database, where the chain ended and how many rows were written. A chain that does not lead
 * through that head was put back to an earlier state, or made anew: a restored backup looks like that too, so a person
 * may accept it (see acceptHead).
 */
@Injectable()
export class AuditWitness {
  private readonly logger = new Logger(AuditWitness.name);
  private last = NOTHING;
  private former: readonly WriterCount[] = [];
  private accepted = 0;
  private lookedAt = NOTHING.at;
  private wentBack = false;

  constructor(
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly writer: AuditWriter,
    private readonly clock: Clock,
  ) {}

  get head(): SeenHead {
    return this.last;
  }

  /** The chain has left the way that this process has seen. */
  get rewound(): boolean {
    return this.wentBack;
  }

  /** When somebody last accepted the trail as it was. */
  get acceptedAt(): number {
    return this.accepted;
  }

  testimony(): Testimony {
    const { id, written } = this.writer;
    return { head: this.last, writers: [...this.former, { writer: id, written }] };
  }

  /** What another process, or this one in its former life, has seen. */
  learn({ head, writers }: Testimony): void {
    if (head.seq > this.last.seq && head.at.getTime() > this.accepted) this.last = head;
    const others = writers.filter(({ writer }) => writer !== this.writer.id);
    this.former = merged(this.former, others);
  }

  /** Holds the end of the chain against what was seen. */
  async compareWith(manager: EntityManager, end: ChainEnd): Promise<void> {
    await this.lookForAcceptance(manager, end);
    this.lookedAt = this.clock.now();
    const leadsThrough = await this.chain.leadsThrough(manager, this.last);
    if (!leadsThrough && !this.wentBack) {
      this.logger.error(
        `The audit chain went back: it was seen to reach ${describe(this.last)} and now ends at ${describe(end.lastSeal)}. After the restore of a backup that is right: npm run audit -- accept-head.`,
      );
    }
    this.wentBack = !leadsThrough;
  }

  /**
   * To be called when what leads there has committed. It counts as seen when the chain was held against it: a restore
   * waits for the commit, and what it then accepts is later, however late this process is told.
   */
  sawHead({ seq, hash }: SealedPoint): void {
    if (!this.wentBack && seq > this.last.seq) this.last = { seq, hash, at: this.lookedAt };
  }

  private async lookForAcceptance(manager: EntityManager, end: ChainEnd): Promise<void> {
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    if (acceptedAt <= this.accepted) return;
    this.accepted = acceptedAt;
    this.former = this.former.filter(({ writer }) => timeOfId(writer) > this.accepted);
    if (timeOfId(this.writer.id) <= this.accepted) this.writer.startNewId();
    if (this.last.at.getTime() > this.accepted) return;
    if (this.wentBack) this.logger.warn('The audit chain as it is was accepted for the right one.');
    const { seq, hash } = end.lastSeal;
    this.last = { seq, hash, at: this.clock.now() };
  }
}

/** As many writers as are worth remembering: each start of a process is one. */
const MOST_WRITERS = 16;

function merged(some: readonly WriterCount[], more: readonly WriterCount[]): WriterCount[] {
  const byWriter = new Map(some.map((one) => [one.writer, one]));
  for (const one of more) {
    if (one.written > (byWriter.get(one.writer)?.written ?? -1)) byWriter.set(one.writer, one);
  }
  // Their ids begin with their time.
  return [...byWriter.values()].sort((a, b) => (a.writer < b.writer ? -1 : 1)).slice(-MOST_WRITERS);
}
