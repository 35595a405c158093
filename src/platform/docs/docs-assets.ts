import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { START_SCRIPT } from './docs-page.js';

export interface Asset {
  readonly type: string;
  readonly bytes: Buffer;
}

const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const folder = dirname(require.resolve('swagger-ui-dist/package.json'));
const loaded = new Map<string, Asset>([
  ['start.js', { type: 'text/javascript; charset=utf-8', bytes: Buffer.from(START_SCRIPT) }],
]);

/** One of the few files that the page needs, read when it is first asked for; no other name leads to a file. */
export function docsAsset(name: string): Asset | undefined {
  const known = loaded.get(name);
  if (known) return known;
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  if (!type) return undefined;
  const asset = { type, bytes: readFileSync(join(folder, name)) };
  loaded.set(name, asset);
  return asset;
}
