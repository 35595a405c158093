import { mkdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { writeWhole } from '../../platform/database/embedded/file-system.js';
import { sameBytes, statementMac, AuditKeys } from '../chain/audit-chain.js';
import { AuditWitness, type SeenHead } from './audit-witness.js';

const OWNER_ONLY = 0o600;
const FILE_NAME = 'audit-anchor.json';

interface AnchorContent {
  readonly about: string;
  readonly seq: string;
  readonly hash: string;
  readonly at: string;
  readonly key_id: string;
  readonly mac: string;
}

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
    hash: head.hash.toString('hex'),
    at: head.at.toISOString(),
    key_id: id,
    mac: statementMac(key, 'anchor', fieldsOf(head)).toString('hex'),
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
    if (!named) return undefined;
    const expected = statementMac(named.key, 'anchor', fieldsOf(head));
    return sameBytes(Buffer.from(mac, 'hex'), expected) ? head : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Signs the file with the first key instead of an older one. The content stays the same. A file that is damaged, or
 * signed with an unknown key, is not changed.
 */
export async function signAnchorAnew(path: string, keys: AuditKeys): Promise<void> {
  const head = parseAnchor(await readFile(path, 'utf8').catch(absent), keys);
  if (head) await writeAnchor(path, head, keys);
}

function absent(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') throw error;
  return '';
}

/** Fields that the signature covers. */
function fieldsOf({ seq, hash, at }: SeenHead): string[] {
  return [String(seq), hash.toString('hex'), at.toISOString()];
}

/** Stores the knowledge of the witness in a file, for the next start and for other processes that use the same file. */
@Injectable()
export class AuditAnchor {
  private readonly logger = new Logger(AuditAnchor.name);
  readonly path: string;
  private trouble: string | undefined;
  private written = '';

  constructor(
    settings: Settings,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
  ) {
    this.path = anchorFileOf(settings);
  }

  /** Message if the file is not up to date. */
  get fault(): string | undefined {
    return this.trouble;
  }

  /** Passes the content of the file to the witness. `write` reports faults of the file. */
  async tellWitness(): Promise<void> {
    await this.readForWitness();
  }

  /** Writes the file if the knowledge has changed. */
  async write(): Promise<void> {
    if (this.trouble === undefined && this.written === this.present()) return;
    const refusal = await this.readForWitness();
    if (refusal !== undefined) return this.report(refusal);
    const present = this.present();
    try {
      await writeAnchor(this.path, this.witness.head, this.keys);
      this.written = present;
      if (this.trouble !== undefined) this.logger.log(`${this.path} is written again.`);
      this.trouble = undefined;
    } catch (error) {
      this.report(`${this.path} cannot be written (${codeOf(error)}).`);
    }
  }

  /** Returns why the file must not be overwritten; `undefined` if it may be. */
  private async readForWitness(): Promise<string | undefined> {
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
    if (trouble !== this.trouble) this.logger.error(`The anchor of the audit trail: ${trouble}`);
    this.trouble = trouble;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
