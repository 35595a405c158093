import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Imported before Node starts its first thread. Look-ups use at most half of the threads; with four, two hanging ones
 * would block all.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16';

const manifest = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as {
  version: string;
};

export const version: string = manifest.version;
