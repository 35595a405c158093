import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Must be imported before Node starts its threads. DNS uses half of the threads; half of the default 4 is too few. */
process.env['UV_THREADPOOL_SIZE'] ??= '16';

const manifest = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as {
  version: string;
};

export const version: string = manifest.version;
