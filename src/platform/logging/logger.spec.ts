import { QueryFailedError } from 'typeorm';
import { loadSettings } from '../config/settings.js';
import { createRootLogger, terminalLines } from './logger.js';
import pino from 'pino';
import { WriteStream } from 'node:tty';

describe('createRootLogger', () => {
  it('logs why a statement failed, without its values', () => {
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
    'redacts the header %s',
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

describe('a log line on a terminal', () => {
  const request = {
    msg: 'request',
    request_id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
    method: 'GET',
    route: '/api/incidents/:id',
    status: 404,
    code: 'not_found',
    ms: 3.2,
    caller: 'alice',
    address: '127.0.0.1',
  };

  /** Returns the line that a terminal without colours shows. */
  async function shown(log: (logger: pino.Logger) => void): Promise<string> {
    const written: string[] = [];
    const terminal = Object.create(WriteStream.prototype) as WriteStream;
    Object.assign(terminal, {
      hasColors: () => false,
      write: (text: string) => written.push(text),
      on: () => terminal,
      once: () => terminal,
    });
    log(pino(await terminalLines(terminal)));
    await new Promise(setImmediate);
    return written.join('');
  }

  it('shows the essential fields of a request', async () => {
    const { msg, ...others } = request;
    const text = await shown((logger) => logger.info(others, msg));
    expect(text.match(/alice/g)).toHaveLength(1);
    expect(text).not.toContain('127.0.0.1');
    expect(text).toContain('request GET /api/incidents/:id 404 not_found 3.2 ms alice');
  });

  it('has no colours if the terminal has none, and shows the stack of an error', async () => {
    const text = await shown((logger) =>
      logger.error({ err: new Error('out of disk') }, 'The backup failed.'),
    );
    expect(text).toMatch(/^\d\d:\d\d:\d\d|^\[\d\d:\d\d:\d\d/);
    expect(text).toContain('The backup failed.');
    expect(text).toContain('out of disk');
    expect(text).not.toContain('\u001b');
  });
});
