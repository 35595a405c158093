import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Must be imported before Node starts threads. Look-ups use at most half of them; 2 of 4 are too few. */
process.env['UV_THREADPOOL_SIZE'] ??= '16';

const manifest = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as {
  version: string;
};

export const version: string = manifest.version;
