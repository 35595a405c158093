import { isAttested } from '../chain/audit-chain.js';
import {
  HASH_BYTES,
  isGenuine,
  nextSeal,
  type SealedPoint,
  type AuditKeys,
} from '../chain/audit-chain.js';
import {
  type EndLine,
  type EntryLine,
  type ExportLine,
  type HeaderLine,
  isSignedEnd,
  isSignedHeader,
  pointOf,
  type RemovedLine,
  rowOfLine,
  type SealOnPaper,
  textOf,
} from './audit-export-lines.js';

const MOST_FAULTS = 20;

export interface ExportFindings {
  readonly valid: boolean;
  readonly sealed: number;
  readonly unsealed: number;
  /** Messages with line numbers; at most 20. */
  readonly faults: readonly string[];
  readonly header: HeaderLine | undefined;
}

/** Checks an export line by line. It needs only the key. */
export class ExportCheck {
  private readonly faults: string[] = [];
  private header: HeaderLine | undefined;
  private end: EndLine | undefined;
  private point: SealedPoint | undefined;
  private lastId = '';
  private line = 0;
  private sealed = 0;
  private unsealed = 0;

  constructor(private readonly keys: AuditKeys) {}

  add(text: string): void {
    this.line += 1;
    try {
      const line = JSON.parse(text) as ExportLine;
      if (textOf(line) !== text) this.fault('differs from what the service writes');
      this.judge(line);
    } catch {
      this.fault('is not a line of an export');
    }
  }

  finish(): ExportFindings {
    if (!this.header) this.fault('the file has no header');
    else if (!this.end) this.fault('the file ends too early: it was cut');
    const { faults, sealed, unsealed, header } = this;
    return { valid: faults.length === 0, sealed, unsealed, faults, header };
  }

  private judge(line: ExportLine): void {
    if (this.end) return this.fault('comes after the end');
    if (line.type === 'export') return this.begin(line);
    if (!this.header || !this.point) return this.fault('comes before the header');
    if (line.type === 'end') return this.close(line, this.header);
    if (line.type === 'removed') return this.follow(line, line.seal, this.point);
    if (line.type !== 'entry') return this.fault('is not a line of an export');
    if (line.seal) this.follow(line, line.seal, this.point);
    else this.judgeUnsealed(line);
  }

  private begin(line: HeaderLine): void {
    if (this.line !== 1) return this.fault('is a second header');
    if (!isSignedHeader(line, this.keys.chain)) {
      this.fault('the header was changed, or signed with a key that SECRETS_KEY does not hold');
    }
    this.header = line;
    this.point = pointOf(line.previous);
    if (this.point.hash.length !== HASH_BYTES) this.fault('the seal before the first is missing');
  }

  private follow(line: EntryLine | RemovedLine, seal: SealOnPaper, previous: SealedPoint): void {
    if (this.unsealed > 0) this.fault('is sealed but comes after unsealed entries', line.id);
    this.sealed += 1;
    // The next line is compared with this seal as written, so that one fault is reported once.
    this.point = pointOf(seal);
    if (line.type === 'removed') return this.fault('was removed: only its seal is left', line.id);
    const row = rowOfLine(line);
    const { attestation } = line;
    const attestedBy = attestation && this.keys.attestations.find(attestation.key_id);
    if (attestation && !attestedBy) this.fault(`needs the key ${attestation.key_id}`, line.id);
    if (!attestedBy && !isGenuine(row, this.keys.rows)) return this.fault('was changed', line.id);
    if (this.point.seq !== previous.seq + 1n) {
      return this.fault(
        `entries are missing or moved: the previous seal is ${previous.seq}`,
        line.id,
      );
    }
    if (attestedBy) {
      const said = { key_id: attestedBy.id, mac: Buffer.from(attestation.mac, 'hex') };
      const sealed = { ...this.point, key_id: seal.key_id };
      if (isAttested(said, this.keys.attestations, previous, sealed, row)) return;
      return this.fault('differs from its attestation by a later key', line.id);
    }
    const named = this.keys.chain.find(seal.key_id);
    const expected = named && nextSeal(named.key, previous, row);
    if (expected?.hash.toString('hex') !== seal.hash) {
      this.fault('its seal does not follow from the previous seal', line.id);
    }
  }

  private judgeUnsealed(line: EntryLine): void {
    this.unsealed += 1;
    if (!isGenuine(rowOfLine(line), this.keys.rows)) this.fault('was changed', line.id);
    if (line.id <= this.lastId) this.fault('is duplicated or moved', line.id);
    this.lastId = line.id;
  }

  private close(line: EndLine, header: HeaderLine): void {
    this.end = line;
    if (!isSignedEnd(line, header, this.keys.chain)) this.fault('the end was changed');
    const { sealed, unsealed } = this;
    if (sealed !== line.sealed || unsealed !== line.unsealed) {
      this.fault(
        `the file has ${sealed} sealed and ${unsealed} other entries instead of ${line.sealed} and ${line.unsealed}`,
      );
    }
    if (String(this.point!.seq) !== header.last_seq) {
      this.fault(`the seals end at ${this.point!.seq} instead of ${header.last_seq}`);
    }
  }

  private fault(what: string, id?: string): void {
    if (this.faults.length === MOST_FAULTS) return;
    this.faults.push(`line ${this.line}: ${id === undefined ? '' : `entry ${id} `}${what}`);
  }
}
