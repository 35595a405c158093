import { type Spotted, ip } from './addresses-in-text.js';
import type { IndicatorType } from './indicator.js';
import type { RawValue } from './raw-values.js';
import { isBodyPart, isHostName, isSystemProgram, isUserName } from './tool-plumbing.js';

const namesOf = (type: IndicatorType, names: string): [string, IndicatorType][] =>
  names.split(' ').map((name) => [name, type]);

/** Keys whose value is a host, a user or a file, as plainName writes them. */
const NAMES: ReadonlyMap<string, IndicatorType> = new Map([
  ...namesOf(
    'host',
    'host hostname hostnames computer computername device devicename machine machinename endpoint endpointname workstation ' +
      'workstationname server servername agenthostname sourcehost destinationhost',
  ),
  ...namesOf(
    'user',
    'user username users account accountname samaccountname login loginname userprincipalname upn actor targetuser targetusername ' +
      'sourceuser userid useremail initiatinguser',
  ),
  ...namesOf(
    'file',
    'file filename filenames filepath files process processname processpath executable image imagepath attachment attachments ' +
      'attachmentname attachmentnames targetfilename parentprocess parentimage',
  ),
]);

/** Keys that say nothing by themselves: what they name is what the object around them is called. */
const INNER = new Set(['name', 'value', 'fullname', 'alternateid', 'path']);
const OF_USER = /user(?:name)?$/;

export function namedType({ name, owner }: RawValue): IndicatorType | undefined {
  return (
    NAMES.get(name) ??
    (INNER.has(name) ? NAMES.get(owner) : undefined) ??
    (OF_USER.test(name) ? 'user' : undefined)
  );
}

const NOTHING = new Set([
  '',
  '-',
  '*',
  'unknown',
  'n/a',
  'na',
  'none',
  'null',
  'undefined',
  'true',
  'false',
]);
const HOST = /^[\p{L}\p{N}_.$-]{1,255}$/u;
const ONE_LINE = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** The host, user or file that a value names. Hosts and users in small letters: the systems that know them do not tell these apart. */
export function namedValue(type: IndicatorType, text: string): Spotted | undefined {
  const value = text.trim();
  if (NOTHING.has(value.toLowerCase())) return undefined;
  if (type === 'host') {
    if (!isHostName(value)) return undefined;
    return ip(value) ?? (HOST.test(value) ? { type, value: value.toLowerCase() } : undefined);
  }
  if (!ONE_LINE.test(value)) return undefined;
  if (type === 'user' && !isUserName(value)) return undefined;
  if (type === 'file' && (isBodyPart(value) || isSystemProgram(value))) return undefined;
  return { type, value: type === 'user' ? value.toLowerCase() : value };
}
