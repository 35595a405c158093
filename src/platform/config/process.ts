import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Imported before Node starts threads. Look-ups use at most half of them; two of four would soon hang. */
process.env['UV_THREADPOOL_SIZE'] ??= '16';

const manifest = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as {
  version: string;
};

export const version: string = manifest.version;
