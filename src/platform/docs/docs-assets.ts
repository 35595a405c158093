import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { StaticFile } from '../http/answer-transport.js';

const SWAGGER_UI = dirname(require.resolve('swagger-ui-dist/package.json'));
const OURS = join(__dirname, 'browser');
const STYLE = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** The few files that the page loads. Other names lead to no file. */
const FILES = {
  'swagger-ui.css': [SWAGGER_UI, STYLE],
  'swagger-ui-bundle.js': [SWAGGER_UI, SCRIPT],
  'page.css': [OURS, STYLE],
  'start.mjs': [OURS, SCRIPT],
  'approvals.mjs': [OURS, SCRIPT],
  'boxes.mjs': [OURS, SCRIPT],
  'kill-switch.mjs': [OURS, SCRIPT],
  'linked.mjs': [OURS, SCRIPT],
  'operations.mjs': [OURS, SCRIPT],
  'page.mjs': [OURS, SCRIPT],
  'plugin.mjs': [OURS, SCRIPT],
  'search.mjs': [OURS, SCRIPT],
} as const;

interface Assets {
  /** Of all of them: it changes with any. */
  readonly version: string;
  readonly files: ReadonlyMap<string, StaticFile>;
}

let loaded: Assets | undefined;

/** Read when the page is first asked for: most processes never show it. */
function assets(): Assets {
  return (loaded ??= load());
}

function load(): Assets {
  const files = Object.entries(FILES).map(
    ([name, [folder, type]]) =>
      [name, new StaticFile(type, readFileSync(join(folder, name)))] as const,
  );
  const hash = createHash('sha256');
  for (const [, file] of files) hash.update(file.etag);
  return { version: hash.digest('base64url').slice(0, 12), files: new Map(files) };
}

/** The version is part of the address, so that browsers may keep a file for good, and what it imports, too. */
export function assetAddress(name: keyof typeof FILES): string {
  return `/docs/${assets().version}/${name}`;
}

interface Asset {
  readonly file: StaticFile;
  /** Not so while replicas of two releases answer side by side, and for an address of the release before. */
  readonly isOfThisVersion: boolean;
}

export function docsAsset(version: string, name: string): Asset | undefined {
  const file = assets().files.get(name);
  return file && { file, isOfThisVersion: version === assets().version };
}
