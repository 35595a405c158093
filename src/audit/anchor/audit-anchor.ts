import { readFile, stat } from 'node:fs/promises';
import { Injectable, Logger } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { anchorFileOf, fieldsOf, parseAnchor, writeAnchor } from './anchor-file.js';
import { AuditKeys } from '../chain/audit-keys.js';
import { AuditWitness } from './audit-witness.js';

/** Keeps what the witness knows in a file, for the next start and for other processes that use the same file. */
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

  /** In words, why the file does not hold what it should. */
  get fault(): string | undefined {
    return this.trouble;
  }

  /** Lets the witness learn what the file holds. A fault of the file is reported by `write`, which knows of acceptances. */
  async tellWitness(): Promise<void> {
    await this.readForWitness();
  }

  /** Writes the file when there is something new. */
  async write(): Promise<void> {
    if (this.trouble === undefined && this.written === this.present()) return;
    const refusal = await this.readForWitness();
    if (refusal !== undefined) return this.report(refusal);
    const present = this.present();
    try {
      await writeAnchor(this.path, this.witness.testimony(), this.keys);
      this.written = present;
      if (this.trouble !== undefined) this.logger.log(`${this.path} is written again.`);
      this.trouble = undefined;
    } catch (error) {
      this.report(`${this.path} cannot be written (${codeOf(error)}).`);
    }
  }

  /** Answers in words why the file must not be written over; undefined when it may be. */
  private async readForWitness(): Promise<string | undefined> {
    try {
      const testimony = parseAnchor(await readFile(this.path, 'utf8'), this.keys);
      if (testimony) this.witness.learn(testimony);
      if (testimony || (await this.isOlderThanAcceptance())) return undefined;
      return `${this.path} is damaged or not signed with a key of SECRETS_KEY, and is not written over: find out why, then move it away.`;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') {
        return `${this.path} cannot be read (${codeOf(error)}), and is not written over.`;
      }
      if (this.written !== '') this.report(`${this.path} was removed; it is written again.`);
      return undefined;
    }
  }

  /** Somebody with the key has accepted the trail since the file was written, so the file speaks of what was before. */
  private async isOlderThanAcceptance(): Promise<boolean> {
    return (await stat(this.path)).mtimeMs < this.witness.acceptedAt;
  }

  private present(): string {
    return fieldsOf(this.witness.testimony()).join(' ');
  }

  /** Logs a fault once, and not every second for as long as it lasts. */
  private report(trouble: string): void {
    if (trouble !== this.trouble) this.logger.error(`The anchor of the audit trail: ${trouble}`);
    this.trouble = trouble;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
