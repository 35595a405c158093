import { QueryFailedError } from 'typeorm';
import { loadSettings } from '../config/load-settings.js';
import { createRootLogger } from './logger-options.js';

describe('createRootLogger', () => {
  it('writes why a statement failed, and not the values that were in it', () => {
    const lines: string[] = [];
    const logger = createRootLogger(loadSettings({}), { write: (line) => lines.push(line) });
    const error = new QueryFailedError(
      'update users set password_hash = $1',
      ['a hash that nobody may see'],
      Object.assign(new Error('out of disk'), { code: '53100' }),
    );
    logger.error({ err: error }, 'The request failed.');
    logger.error(error);
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      expect(line).toContain('out of disk');
      expect(line).toContain('53100');
      expect(line).not.toContain('a hash that nobody may see');
    }
  });

  it.each(['authorization', 'x-webhook-signature', 'x-webhook-token'])(
    'writes no %s, should headers ever be logged',
    (name) => {
      const lines: string[] = [];
      const logger = createRootLogger(loadSettings({}), { write: (line) => lines.push(line) });
      const headers = { [name]: 'what nobody may see' };
      logger.warn({ headers, req: { headers } }, 'A request.');
      expect(lines.join()).toContain('[redacted]');
      expect(lines.join()).not.toContain('what nobody may see');
    },
  );
});
