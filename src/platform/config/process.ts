import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Imported first, because Node reads the number of threads when it starts the first one. Name look-ups use at most half
 * of the threads. With Node's default of four, two hanging look-ups would block all other work.
 */
process.env['UV_THREADPOOL_SIZE'] ??= '16';

const manifest = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as {
  version: string;
};

export const version: string = manifest.version;
