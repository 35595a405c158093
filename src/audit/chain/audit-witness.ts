import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import type { DataSource, EntityManager } from 'typeorm';
import { Clock } from '../../platform/clock.js';
import { Settings } from '../../platform/config/settings.js';
import { writeWhole } from '../../platform/database/embedded/file-system.js';
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
 * Remembers the end of the chain outside the database. If the chain no longer contains that end, it was set back or made
 * again. The restore of a backup looks the same, so an operator can accept it (see acceptHead).
 */
@Injectable()
export class AuditWitness {
  private readonly logger = new Logger(AuditWitness.name);
  head = NOTHING;
  /** Whether the chain no longer contains the head that this process has seen. */
  rewound = false;
  /** Time of the last acceptance, in milliseconds. */
  acceptedAt = 0;
  private comparedAt = NOTHING.at;

  constructor(
    private readonly chain: AuditChainRepository,
    private readonly keys: AuditKeys,
    private readonly clock: Clock,
  ) {}

  /** Adopts the knowledge of another process, or of this service before its last start. */
  learn(head: SeenHead): void {
    if (head.seq > this.head.seq && head.at.getTime() > this.acceptedAt) {
      this.head = head;
    }
  }

  /** Checks that the chain contains the head that was seen. */
  async compareChain(manager: EntityManager, end: ChainEnd): Promise<void> {
    await this.applyAcceptance(manager, end);
    this.comparedAt = this.clock.now();
    const containsSeal = await this.chain.containsSeal(manager, this.head);
    if (!containsSeal && !this.rewound) {
      this.logger.error(
        `The audit chain was set back: it had reached ${describe(this.head)} and now ends at ${describe(end.lastSeal)}. If a backup was restored, run npm run audit -- accept-head.`,
      );
    }
    this.rewound = !containsSeal;
  }

  /**
   * Call it after the seal has committed. The head counts as seen at the last comparison, so that the acceptance of a
   * restore that waited for the commit is later.
   */
  recordHead({ seq, hash }: SealedPoint): void {
    if (!this.rewound && seq > this.head.seq) {
      this.head = { seq, hash, at: this.comparedAt };
    }
  }

  /** Discards knowledge that is older than the acceptance. */
  private async applyAcceptance(manager: EntityManager, end: ChainEnd): Promise<void> {
    const acceptedAt = await lastAcceptedAt(manager, this.chain, this.keys);
    if (acceptedAt <= this.acceptedAt) return;
    this.acceptedAt = acceptedAt;
    if (this.head.at.getTime() > acceptedAt) return;
    if (this.rewound) this.logger.warn('The audit chain was accepted as it is.');
    const { seq, hash } = end.lastSeal;
    this.head = { seq, hash, at: this.clock.now() };
  }
}

const OWNER_ONLY = 0o600;
const FILE_NAME = 'audit-anchor.json';

type AnchorContent = Readonly<Record<'about' | 'seq' | 'hash' | 'at' | 'key_id' | 'mac', string>>;

const ABOUT =
  'The end of the audit trail, stored outside its database. Do not delete this file: it reveals if the trail is set back.';

export function anchorFileOf({
  auditAnchorFile,
  dataDir,
}: Pick<Settings, 'auditAnchorFile' | 'dataDir'>): string {
  return auditAnchorFile ?? join(dataDir, FILE_NAME);
}

async function writeAnchor(path: string, head: SeenHead, keys: AuditKeys): Promise<void> {
  const { id, key } = keys.chain.first;
  const content: AnchorContent = {
    about: ABOUT,
    seq: String(head.seq),
    hash: hex(head.hash),
    at: head.at.toISOString(),
    key_id: id,
    mac: hex(macOf(key, ['anchor', ...fieldsOf(head)])),
  };
  await mkdir(dirname(path), { recursive: true });
  await writeWhole(path, `${JSON.stringify(content, null, 2)}\n`, OWNER_ONLY);
}

/** `undefined` if the file is damaged, altered or signed with a key that SECRETS_KEY does not hold. */
function parseAnchor(text: string, keys: AuditKeys): SeenHead | undefined {
  try {
    const { seq, hash, at, key_id, mac } = JSON.parse(text) as AnchorContent;
    const head = { seq: BigInt(seq), hash: Buffer.from(hash, 'hex'), at: new Date(at) };
    const named = keys.chain.find(key_id);
    const expected = named && macOf(named.key, ['anchor', ...fieldsOf(head)]);
    return expected && sameBytes(Buffer.from(mac, 'hex'), expected) ? head : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Signs the file with the first key instead of an older one. The content stays the same. A file that cannot be read, or
 * is signed with an unknown key, is not changed: the service reports it.
 */
export async function signAnchorAgain(path: string, keys: AuditKeys): Promise<void> {
  const head = parseAnchor(await readFile(path, 'utf8').catch(() => ''), keys);
  if (head) await writeAnchor(path, head, keys);
}

/** Fields that the signature covers. */
function fieldsOf({ seq, hash, at }: SeenHead): string[] {
  return [String(seq), hex(hash), at.toISOString()];
}

/** Stores the knowledge of the witness in a file, for the next start and for other processes that use the same file. */
@Injectable()
export class AuditAnchor {
  private readonly logger = new Logger(AuditAnchor.name);
  readonly path: string;
  /** Why the file is not up to date. */
  fault: string | undefined;
  private written = '';

  constructor(
    settings: Settings,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
  ) {
    this.path = anchorFileOf(settings);
  }

  /** Writes the file if the knowledge has changed. */
  async write(): Promise<void> {
    if (this.fault === undefined && this.written === this.present()) return;
    const refusal = await this.informWitness();
    if (refusal !== undefined) return this.report(refusal);
    const present = this.present();
    try {
      await writeAnchor(this.path, this.witness.head, this.keys);
      this.written = present;
      if (this.fault !== undefined) this.logger.log(`${this.path} is written again.`);
      this.fault = undefined;
    } catch (error) {
      this.report(`${this.path} cannot be written (${codeOf(error)}).`);
    }
  }

  /**
   * Passes the content of the file to the witness. Returns why the file must not be overwritten; `undefined` if it may be.
   */
  async informWitness(): Promise<string | undefined> {
    try {
      const head = parseAnchor(await readFile(this.path, 'utf8'), this.keys);
      if (head) this.witness.learn(head);
      if (head || (await this.isOlderThanAcceptance())) return undefined;
      return `${this.path} is damaged or not signed with a key of SECRETS_KEY, and is not overwritten. Find out why, then move it away.`;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') {
        return `${this.path} cannot be read (${codeOf(error)}) and is not overwritten.`;
      }
      if (this.written !== '') this.report(`${this.path} was removed and is written again.`);
      return undefined;
    }
  }

  /** An operator has accepted the trail since the file was written, so the file describes an earlier trail. */
  private async isOlderThanAcceptance(): Promise<boolean> {
    return (await stat(this.path)).mtimeMs < this.witness.acceptedAt;
  }

  private present(): string {
    return fieldsOf(this.witness.head).join(' ');
  }

  /** Logs a fault once, not every second. */
  private report(trouble: string): void {
    if (trouble !== this.fault) this.logger.error(`The anchor of the audit trail: ${trouble}`);
    this.fault = trouble;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
