import type { DataSource, EntityManager } from 'typeorm';
import { Injectable, Logger } from '@nestjs/common';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { HEAD_ACCEPTED } from '../audit-entry.js';
import { type AuditLog, logOfCommand, AuditWriter, type WriterCount } from '../audit-log.js';
import {
  isGenuine,
  AuditKeys,
  hex,
  sameBytes,
  type SealedPoint,
  statementMac,
  GENESIS,
  type ChainEnd,
} from '../chain/audit-chain.js';
import { AuditChainRepository } from '../chain/audit-chain.repository.js';
import { Clock } from '../../platform/clock.js';
import { timeOfId } from '../../platform/ids.js';

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

const LINE = /ends at (\d{1,19}) ([0-9a-f]{64}), signed ([0-9a-f]{8}) ([0-9a-f]{64})/;

/** A log line with the end of the chain. Its signature requires the key. */
export function loggedHead(point: SealedPoint, keys: AuditKeys): string {
  const { id, key } = keys.chain.first;
  const mac = statementMac(key, 'logged-head', fieldsOf(point));
  return `The audit chain ends at ${describe(point)}, signed ${id} ${hex(mac)}.`;
}

/**
 * Message if the line proves nothing, or if the trail has changed since; `undefined` if the trail agrees with the line.
 */
export async function faultOfLine(
  manager: EntityManager,
  keys: AuditKeys,
  line: string,
): Promise<string | undefined> {
  const read = readLoggedHead(line, keys);
  if ('fault' in read) return `${read.fault}.`;
  if (await new AuditChainRepository().leadsThrough(manager, read.point)) return undefined;
  return `The service wrote this line, but seal ${read.point.seq} of the audit trail differs now: the trail was set back or made again since.`;
}

type ReadHead = { readonly point: SealedPoint } | { readonly fault: string };

/** Reads the sentence, or the log line that contains it. */
function readLoggedHead(line: string, keys: AuditKeys): ReadHead {
  const [, seq, hash, keyId, mac] = LINE.exec(line) ?? [];
  if (!seq || !hash || !keyId || !mac)
    return { fault: 'The line does not say where the audit chain ended' };
  const named = keys.chain.find(keyId);
  if (!named)
    return {
      fault: `The line cannot be verified: SECRETS_KEY does not hold the key ${keyId} that signed it`,
    };
  const point = { seq: BigInt(seq), hash: Buffer.from(hash, 'hex') };
  const expected = statementMac(named.key, 'logged-head', fieldsOf(point));
  return sameBytes(Buffer.from(mac, 'hex'), expected)
    ? { point }
    : { fault: 'The service did not write the line: its signature does not match' };
}

export function describe({ seq, hash }: SealedPoint): string {
  return `${seq} ${hex(hash)}`;
}

function fieldsOf({ seq, hash }: SealedPoint): string[] {
  return [String(seq), hex(hash)];
}

/** A head of the chain and when it was seen. */
interface SeenHead extends SealedPoint {
  readonly at: Date;
}

/** Knowledge about the trail outside its database. */
export interface Testimony {
  readonly head: SeenHead;
  readonly writers: readonly WriterCount[];
}

const NOTHING: SeenHead = { ...GENESIS, at: new Date(0) };

/** Each start of a process is a new writer. The latest writers are enough. */
const MOST_WRITERS = 16;

/**
 * Remembers, outside the database, the end of the chain and the number of rows written. If the chain no longer contains
 * that end, it was set back or made again. The restore of a backup looks the same, so an operator can accept it (see
 * acceptHead).
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

  /** Whether the chain no longer contains the head that this process has seen. */
  get rewound(): boolean {
    return this.wentBack;
  }

  /** Time of the last acceptance, in milliseconds. */
  get acceptedAt(): number {
    return this.lastAccepted;
  }

  testimony(): Testimony {
    const { id, written } = this.writer;
    return { head: this.lastSeen, writers: [...this.otherWriters, { writer: id, written }] };
  }

  /** Adopts the knowledge of another process, or of this service before its last start. */
  learn({ head, writers }: Testimony): void {
    if (head.seq > this.lastSeen.seq && head.at.getTime() > this.lastAccepted) {
      this.lastSeen = head;
    }
    const others = writers.filter(({ writer }) => writer !== this.writer.id);
    this.otherWriters = merged(this.otherWriters, others);
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
    this.otherWriters = this.otherWriters.filter(({ writer }) => timeOfId(writer) > acceptedAt);
    if (timeOfId(this.writer.id) <= acceptedAt) this.writer.startNewId();
    if (this.lastSeen.at.getTime() > acceptedAt) return;
    if (this.wentBack) this.logger.warn('The audit chain was accepted as it is.');
    const { seq, hash } = end.lastSeal;
    this.lastSeen = { seq, hash, at: this.clock.now() };
  }
}

/** The highest count of each of the latest writers. */
function merged(some: readonly WriterCount[], more: readonly WriterCount[]): WriterCount[] {
  const byWriter = new Map(some.map((count) => [count.writer, count]));
  for (const count of more) {
    if (count.written > (byWriter.get(count.writer)?.written ?? -1)) {
      byWriter.set(count.writer, count);
    }
  }
  // The id of a writer begins with its start time.
  return [...byWriter.values()].sort((a, b) => (a.writer < b.writer ? -1 : 1)).slice(-MOST_WRITERS);
}
