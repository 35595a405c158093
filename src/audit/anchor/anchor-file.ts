import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Settings } from '../../platform/config/settings.js';
import { writeWhole } from '../../platform/database/embedded/file-system.js';
import { sameBytes, statementMac } from '../chain/audit-chain.js';
import type { AuditKeys } from '../chain/audit-keys.js';
import type { Testimony } from './audit-witness.js';

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

export function anchorFileOf({
  auditAnchorFile,
  dataDir,
}: Pick<Settings, 'auditAnchorFile' | 'dataDir'>): string {
  return auditAnchorFile ?? join(dataDir, FILE_NAME);
}

export async function writeAnchor(
  path: string,
  testimony: Testimony,
  keys: AuditKeys,
): Promise<void> {
  const { id, key } = keys.chain.first;
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
  await mkdir(dirname(path), { recursive: true });
  await writeWhole(path, `${JSON.stringify(content, null, 2)}\n`, OWNER_ONLY);
}

/** Undefined when the file is damaged, changed or signed with a key that SECRETS_KEY does not hold. */
export function parseAnchor(text: string, keys: AuditKeys): Testimony | undefined {
  try {
    const { seq, hash, at, writers, key_id, mac } = JSON.parse(text) as AnchorContent;
    const head = { seq: BigInt(seq), hash: Buffer.from(hash, 'hex'), at: new Date(at) };
    const testimony = { head, writers };
    const named = keys.chain.find(key_id);
    if (!named) return undefined;
    const expected = statementMac(named.key, 'anchor', fieldsOf(testimony));
    return sameBytes(Buffer.from(mac, 'hex'), expected) ? testimony : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Signs the file with the first key instead of an older one, which is then not needed any more. Its content stays the same.
 * A file that is damaged, or signed with a key that is not there, stays as it is.
 */
export async function signAnchorAnew(path: string, keys: AuditKeys): Promise<void> {
  const testimony = parseAnchor(await readFile(path, 'utf8').catch(absent), keys);
  if (testimony) await writeAnchor(path, testimony, keys);
}

function absent(error: NodeJS.ErrnoException): string {
  if (error.code !== 'ENOENT') throw error;
  return '';
}

/** The parts that the signature covers. */
export function fieldsOf({ head, writers }: Testimony): string[] {
  const counts = writers.flatMap(({ writer, written }) => [writer, String(written)]);
  return [String(head.seq), head.hash.toString('hex'), head.at.toISOString(), ...counts];
}
