import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** All codes that an entry of `details.errors` may have: the table in docs/api.md. */
export function fieldErrorCodes(): readonly string[] {
  const guide = readFileSync(join(__dirname, '../../docs/api.md'), 'utf8');
  const table = guide.split('### Field errors')[1]!.split(/\n#/)[0]!;
  return [...table.matchAll(/^\| `([a-z_0-9]+)`/gm)].map(([, code]) => code!);
}
