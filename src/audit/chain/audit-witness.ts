import { mkdir, readFile, stat } from 'node:fs/promises';
import type { KeyObject } from 'node:crypto';
import { dirname, join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import type { DataSource, EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { writeWhole } from '../../platform/files.js';
import { Transactions, type Tx } from '../../platform/database/transactions.js';
import { HEAD_ACCEPTED } from '../audit-entry.js';
import { type AuditLog, logOfCommand } from '../audit-log.js';
import {
  AuditKeys,
  type ChainEnd,
  GENESIS,
  hex,
  isGenuine,
  macOf,
  sameBytes,
  type SealedPoint,
} from './audit-chain.js';
import { AuditChainRepository } from './audit-chain.repository.js';

/** Accepts a restored or rebuilt trail. Every process that finds the entry discards the earlier heads that it knows. */
export async function acceptHead(
  dataSource: DataSource,
  keys: AuditKeys,
  reason: string,
): Promise<void> {
  const log = logOfCommand(dataSource, keys);
  await new Transactions(dataSource).run((tx) => recordAcceptance(tx, log, reason));
}

export async function recordAcceptance(tx: Tx, log: AuditLog, reason: string): Promise<void> {
  await log.record(tx, {
    actor: 'system',
    action: HEAD_ACCEPTED,
    subject: { type: 'audit', id: 'head' },
    details: { reason },
  });
}

interface SeenHead extends SealedPoint {
  readonly at: Date;
}

const NOTHING: SeenHead = { ...GENESIS, at: new Date(0) };
const FILE_NAME = 'audit-anchor.json';
const ABOUT =
  'The end of the audit trail, stored outside its database. Do not delete this file: it reveals if the trail is set back.';

/** Remembers the end of the chain outside the database, to detect a rollback. An operator can accept the chain. */
@Injectable()
export class AuditWitness {
  private readonly logger = new Logger(AuditWitness.name);
  private readonly path: string;
  head = NOTHING;
  rewound = false;
  /** Time of the last acceptance, in milliseconds since 1970; 0 without an acceptance. */
  acceptedAt = 0;
  fault: string | undefined;
  private comparedAt = NOTHING.at;
  private written: SeenHead | undefined;

  constructor(
    { auditAnchorFile, dataDir }: Settings,
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
  ) {
    this.path = auditAnchorFile ?? join(dataDir, FILE_NAME);
  }

  async compareChain(manager: EntityManager, end: ChainEnd): Promise<void> {
    await this.applyAcceptance(manager, end);
    this.comparedAt = this.clock.now();
    const containsSeal = await this.chain.containsSeal(manager, this.head);
    if (!containsSeal && !this.rewound) {
      const [seen, last] = [this.head, end.lastSeal].map(({ seq, hash }) => `${seq} ${hex(hash)}`);
      this.logger.error(
        `The audit chain lost entries: its last known entry is ${seen}, but the chain now ends at ${last}. If a backup was restored, run npm run audit -- accept-head.`,
      );
    }
    this.rewound = !containsSeal;
  }

  /** The time is from before the commit, so an acceptance by a restore that waited for the commit is newer. */
  recordHead({ seq, hash }: SealedPoint): void {
    if (this.rewound || seq <= this.head.seq) return;
    this.head = { seq, hash, at: this.comparedAt };
  }

  async lastAcceptedAt(manager: EntityManager): Promise<number> {
    const row = await this.chain.lastAcceptance(manager);
    return row && isGenuine(row, this.keys.ring) ? row.at.getTime() : 0;
  }

  private async applyAcceptance(manager: EntityManager, end: ChainEnd): Promise<void> {
    const acceptedAt = await this.lastAcceptedAt(manager);
    if (acceptedAt <= this.acceptedAt) return;
    this.acceptedAt = acceptedAt;
    if (this.head.at.getTime() > acceptedAt) return;
    if (this.rewound) this.logger.warn('The audit chain was accepted as it is.');
    const { seq, hash } = end.lastSeal;
    this.head = { seq, hash, at: this.clock.now() };
  }

  async save(): Promise<void> {
    if (this.fault === undefined && this.written === this.head) return;
    const refusal = await this.load();
    if (refusal !== undefined) return this.report(refusal);
    const { head } = this;
    const { id: key_id, key } = this.keys.ring.first;
    const content = { about: ABOUT, ...anchorOf(head), key_id, mac: hex(anchorMac(key, head)) };
    try {
      await mkdir(dirname(this.path), { recursive: true });
      await writeWhole(this.path, `${JSON.stringify(content, null, 2)}\n`);
      this.written = head;
      if (this.fault !== undefined) this.logger.log(`${this.path} is written again.`);
      this.fault = undefined;
    } catch (error) {
      this.report(`${this.path} cannot be written (${codeOf(error)}).`);
    }
  }

  /** Loads the head from the anchor file. Returns the reason why the file must not be overwritten, or `undefined`. */
  async load(): Promise<string | undefined> {
    const { path } = this;
    try {
      const head = this.parse(await readFile(path, 'utf8'));
      if (head && head.seq > this.head.seq && head.at.getTime() > this.acceptedAt) this.head = head;
      // A damaged file that is older than the acceptance describes an earlier trail, so it may be overwritten.
      if (head || (await stat(path)).mtimeMs < this.acceptedAt) return undefined;
      return `${path} is damaged or not signed with a key of SECRETS_KEY, and is not overwritten. Find out why, then move it away.`;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') {
        return `${path} cannot be read (${codeOf(error)}) and is not overwritten.`;
      }
      if (this.written) this.report(`${path} was removed and is written again.`);
      return undefined;
    }
  }

  private parse(text: string): SeenHead | undefined {
    try {
      const { seq, hash, at, key_id, mac } = JSON.parse(text) as Anchor;
      const head = { seq: BigInt(seq), hash: Buffer.from(hash, 'hex'), at: new Date(at) };
      const named = this.keys.ring.find(key_id);
      const isSigned = named && sameBytes(Buffer.from(mac, 'hex'), anchorMac(named.key, head));
      return isSigned ? head : undefined;
    } catch {
      return undefined;
    }
  }

  private report(trouble: string): void {
    if (trouble !== this.fault) this.logger.error(`The anchor of the audit trail: ${trouble}`);
    this.fault = trouble;
  }
}

const anchorOf = ({ seq, hash, at }: SeenHead) => {
  return { seq: String(seq), hash: hex(hash), at: at.toISOString() };
};

type Anchor = ReturnType<typeof anchorOf> & Readonly<Record<'key_id' | 'mac', string>>;

const anchorMac = (key: KeyObject, head: SeenHead): Buffer =>
  macOf(key, ['anchor', ...Object.values(anchorOf(head))]);

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
