import pino from 'pino';
import { WriteStream } from 'node:tty';
import { terminalLines, wordsOf } from './terminal-lines.js';

describe('a line of the log on a terminal', () => {
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

  it('says of a request what a person asks', () => {
    expect(wordsOf(request)).toBe('GET /api/incidents/:id 404 not_found 3.2 ms alice');
    expect(wordsOf({ msg: 'The database is back after 3 s.' })).toBe(
      'The database is back after 3 s.',
    );
  });

  /** What a terminal without colours shows of this line. */
  async function shown(log: (logger: pino.Logger) => void): Promise<string> {
    const written: string[] = [];
    const terminal = Object.create(WriteStream.prototype) as WriteStream;
    Object.assign(terminal, {
      hasColors: () => false,
      write: (text: string) => written.push(text),
      on: () => terminal,
      once: () => terminal,
    });
    log(pino(terminalLines(terminal)));
    await new Promise(setImmediate);
    return written.join('');
  }

  it('names the caller of a request once', async () => {
    const { msg, ...others } = request;
    const text = await shown((logger) => logger.info(others, msg));
    expect(text.match(/alice/g)).toHaveLength(1);
    expect(text).toContain('GET /api/incidents/:id 404 not_found 3.2 ms alice');
  });

  it('has no colours where the terminal has none, and shows why something failed', async () => {
    const text = await shown((logger) =>
      logger.error({ err: new Error('out of disk') }, 'The backup failed.'),
    );
    expect(text).toMatch(/^\d\d:\d\d:\d\d|^\[\d\d:\d\d:\d\d/);
    expect(text).toContain('The backup failed.');
    expect(text).toContain('out of disk');
    expect(text).not.toContain('\u001b');
  });
});
