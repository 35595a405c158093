import type { KeyRing, NamedKey } from '../../platform/secrets/secret-box.js';
import type { SealAttestation } from '../chain/audit-chain.js';
import { type SealedPoint, sameBytes, statementMac } from '../chain/audit-chain.js';
import type { AuditRow } from '../audit-entry.js';

/*
 * Lines of an export, one JSON object each: a header, the sealed entries in the order of their seals, the unsealed
 * entries in the order of their ids, an end. Header and end are signed, so that a cut file is detected.
 */

export interface HeaderLine {
  readonly type: 'export';
  readonly at: string;
  readonly from?: string;
  readonly to?: string;
  /** Seal before the first seal of the file. */
  readonly previous: PointOnPaper;
  /** End of the whole chain at that time. */
  readonly head: PointOnPaper;
  readonly last_seq: string;
  readonly key_id: string;
  readonly mac: string;
}

export interface EntryLine {
  readonly type: 'entry';
  readonly id: string;
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly subject_type: string;
  readonly subject_id: string;
  /** JSON as text: the MAC covers its bytes. */
  readonly details: string;
  readonly key_id: string;
  readonly mac: string;
  /** Absent if the entry is not sealed yet. */
  readonly seal?: SealOnPaper;
  /** Signed with a later key, so that the keys of entry and seal are not needed. */
  readonly attestation?: AttestationOnPaper;
}

interface AttestationOnPaper {
  readonly key_id: string;
  readonly mac: string;
}

/** Seal of an entry that was removed from the database. */
export interface RemovedLine {
  readonly type: 'removed';
  readonly id: string;
  readonly seal: SealOnPaper;
}

export interface EndLine {
  readonly type: 'end';
  readonly sealed: number;
  readonly unsealed: number;
  readonly key_id: string;
  readonly mac: string;
}

export type ExportLine = HeaderLine | EntryLine | RemovedLine | EndLine;

interface PointOnPaper {
  readonly seq: string;
  readonly hash: string;
}

export interface SealOnPaper extends PointOnPaper {
  readonly key_id: string;
}

export function onPaper({ seq, hash }: SealedPoint): PointOnPaper {
  return { seq: String(seq), hash: hash.toString('hex') };
}

export function entryLine(
  row: AuditRow,
  seal?: SealOnPaper,
  attestation?: SealAttestation,
): EntryLine {
  return {
    type: 'entry',
    id: row.id,
    at: row.at.toISOString(),
    actor: row.actor,
    action: row.action,
    subject_type: row.subject_type,
    subject_id: row.subject_id,
    details: row.details,
    key_id: row.key_id,
    mac: row.mac.toString('hex'),
    seal,
    attestation: attestation && {
      key_id: attestation.key_id,
      mac: attestation.mac.toString('hex'),
    },
  };
}

export function rowOfLine(line: EntryLine): AuditRow {
  return { ...line, at: new Date(line.at), mac: bytesOf(line.mac) };
}

/**
 * Text that the service writes for this content. A line that was read must equal it: signatures cover only known
 * fields, so a duplicate or unknown member would not be noticed otherwise.
 */
export function textOf(line: ExportLine): string {
  return JSON.stringify(rewritten(line));
}

function rewritten(line: ExportLine): ExportLine | undefined {
  switch (line.type) {
    case 'export': {
      const { type, at, from, to, previous, head, last_seq, key_id } = line;
      return {
        type,
        at,
        from: from || undefined,
        to: to || undefined,
        previous: onPaper(pointOf(previous)),
        head: onPaper(pointOf(head)),
        last_seq: String(BigInt(last_seq)),
        key_id,
        mac: bytesOf(line.mac).toString('hex'),
      };
    }
    case 'entry': {
      const { attestation: said } = line;
      const seal = line.seal && sealOf(line.seal);
      const attestation = seal && said && { key_id: said.key_id, mac: bytesOf(said.mac) };
      return entryLine(rowOfLine(line), seal, attestation);
    }
    case 'removed':
      return { type: line.type, id: line.id, seal: sealOf(line.seal) };
    case 'end': {
      const { type, sealed, unsealed, key_id, mac } = line;
      return { type, sealed, unsealed, key_id, mac: bytesOf(mac).toString('hex') };
    }
    default:
      return undefined;
  }
}

function sealOf(seal: SealOnPaper): SealOnPaper {
  return { ...onPaper(pointOf(seal)), key_id: seal.key_id };
}

export function pointOf({ seq, hash }: PointOnPaper): SealedPoint {
  return { seq: BigInt(seq), hash: bytesOf(hash) };
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

type Unsigned<Line> = Omit<Line, 'key_id' | 'mac'>;

export function signedHeader({ id, key }: NamedKey, line: Unsigned<HeaderLine>): HeaderLine {
  const mac = statementMac(key, 'export', headerFields(line)).toString('hex');
  return { ...line, key_id: id, mac };
}

/** Also covers the header, so that the end of another export does not fit. */
export function signedEnd(
  { id, key }: NamedKey,
  header: HeaderLine,
  line: Unsigned<EndLine>,
): EndLine {
  const mac = statementMac(key, 'export-end', endFields(header, line)).toString('hex');
  return { ...line, key_id: id, mac };
}

export function isSignedHeader(line: HeaderLine, keys: KeyRing): boolean {
  return isSigned(line, keys, 'export', headerFields(line));
}

export function isSignedEnd(line: EndLine, header: HeaderLine, keys: KeyRing): boolean {
  return isSigned(line, keys, 'export-end', endFields(header, line));
}

function isSigned(
  line: { readonly key_id: string; readonly mac: string },
  keys: KeyRing,
  purpose: string,
  fields: readonly string[],
): boolean {
  const named = keys.find(line.key_id);
  if (!named) return false;
  return sameBytes(bytesOf(line.mac), statementMac(named.key, purpose, fields));
}

function headerFields(line: Unsigned<HeaderLine>): string[] {
  const { at, from, to, previous, head, last_seq } = line;
  return [at, from ?? '', to ?? '', previous.seq, previous.hash, head.seq, head.hash, last_seq];
}

function endFields(header: HeaderLine, { sealed, unsealed }: Unsigned<EndLine>): string[] {
  return [header.mac, String(sealed), String(unsealed)];
}
