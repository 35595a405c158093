import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { sameBytes, statementMac } from './audit-chain.js';
import { AuditKeys } from './audit-keys.js';
import { AuditWitness, type Testimony } from './audit-witness.js';

const OWNER_ONLY = 0o600;
const FILE_NAME = 'audit-anchor.json';

interface AnchorContent {
  readonly about: string;
  readonly seq: string;
  readonly hash: string;
  readonly at: string;
  readonly writers: readonly { readonly writer: string; readonly written: number }[];
  readonly key_id: string;
  readonly mac: string;
}

const ABOUT =
  'The end of the audit trail, kept outside its database. Do not delete it: it tells when the trail was put back.';

/** Keeps what the witness knows in a file, for the next start and for other processes that share it. */
@Injectable()
export class AuditAnchor {
  private readonly logger = new Logger(AuditAnchor.name);
  readonly path: string;
  private trouble: string | undefined;
  private kept = '';

  constructor(
    settings: Settings,
    private readonly keys: AuditKeys,
    private readonly witness: AuditWitness,
  ) {
    this.path = settings.auditAnchorFile ?? join(settings.dataDir, FILE_NAME);
  }

  /** In words, why the file does not hold what it should. */
  get fault(): string | undefined {
    return this.trouble;
  }

  /** The witness learns what the file holds; false when there is a file that cannot be believed. */
  async hear(): Promise<boolean> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if (codeOf(error) === 'ENOENT') {
        if (this.kept !== '') this.report(`${this.path} was removed; it is written again.`);
        return true;
      }
      this.report(`${this.path} cannot be read (${codeOf(error)}), and is not written over.`);
      return false;
    }
    const testimony = this.parse(text);
    if (testimony) this.witness.hear(testimony);
    else {
      this.report(
        `${this.path} is damaged or not signed with a key of SECRETS_KEY, and is not written over: find out why, then move it away.`,
      );
    }
    return testimony !== undefined;
  }

  /** Writes the file when there is something new. */
  async keep(): Promise<void> {
    if (this.trouble === undefined && this.kept === this.present()) return;
    if (!(await this.hear())) return;
    const present = this.present();
    try {
      await replaceFile(this.path, this.render());
      this.kept = present;
      if (this.trouble !== undefined) this.logger.log(`${this.path} is written again.`);
      this.trouble = undefined;
    } catch (error) {
      this.report(`${this.path} cannot be written (${codeOf(error)}).`);
    }
  }

  private present(): string {
    return fieldsOf(this.witness.testimony()).join(' ');
  }

  private render(): string {
    const testimony = this.witness.testimony();
    const { id, key } = this.keys.chain.first;
    const { head, writers } = testimony;
    const content: AnchorContent = {
      about: ABOUT,
      seq: String(head.seq),
      hash: head.hash.toString('hex'),
      at: head.at.toISOString(),
      writers,
      key_id: id,
      mac: statementMac(key, 'anchor', fieldsOf(testimony)).toString('hex'),
    };
    return `${JSON.stringify(content, null, 2)}\n`;
  }

  private parse(text: string): Testimony | undefined {
    try {
      const { seq, hash, at, writers, key_id, mac } = JSON.parse(text) as AnchorContent;
      const head = { seq: BigInt(seq), hash: Buffer.from(hash, 'hex'), at: new Date(at) };
      const testimony = { head, writers };
      const named = this.keys.chain.find(key_id);
      if (!named) return undefined;
      const expected = statementMac(named.key, 'anchor', fieldsOf(testimony));
      return sameBytes(Buffer.from(mac, 'hex'), expected) ? testimony : undefined;
    } catch {
      return undefined;
    }
  }

  /** Once, and not every second for as long as it lasts. */
  private report(trouble: string): void {
    if (trouble !== this.trouble) this.logger.error(`The anchor of the audit trail: ${trouble}`);
    this.trouble = trouble;
  }
}

function fieldsOf({ head, writers }: Testimony): string[] {
  const counts = writers.flatMap(({ writer, written }) => [writer, String(written)]);
  return [String(head.seq), head.hash.toString('hex'), head.at.toISOString(), ...counts];
}

/** A whole file takes the place of the former one, or nothing does. */
async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    const file = await open(draft, 'wx', OWNER_ONLY);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
