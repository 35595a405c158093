import { eventually } from '../../../test/support/jobs/eventually.js';
import { isOutageLogged, Outage } from './outage.js';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const full = Object.assign(new Error('too many connections'), { code: '53300' });
const broken = new Error('Connection terminated unexpectedly');

describe('an outage of the database', () => {
  const lines: string[] = [];
  const isReadOnly = jest.fn<Promise<boolean>, []>();
  let outage: Outage;

  beforeEach(() => {
    jest.resetAllMocks();
    lines.length = 0;
    outage = new Outage((line, error) => lines.push(error ? `error: ${line}` : line), isReadOnly);
  });
  afterEach(() => outage.ignore());

  it.each([
    ['cannot be reached', () => isReadOnly.mockRejectedValueOnce(refused)],
    ['is read-only', () => isReadOnly.mockResolvedValueOnce(true)],
  ])('is logged once when it %s, and once when it is back', async (problem, given) => {
    given();
    isReadOnly.mockResolvedValue(false);
    for (let n = 0; n < 5; n += 1) outage.suspect(broken);
    // From now on callers leave the report to the outage log.
    expect(isOutageLogged()).toBe(true);
    await eventually(isOutageLogged, (logged) => !logged);
    expect(lines).toEqual([
      `error: The database ${problem}.`,
      expect.stringMatching(/^The database is back after \d+ s\.$/),
    ]);
  });

  it('logs both when a failover ends at a read-only server', async () => {
    isReadOnly.mockRejectedValueOnce(refused).mockResolvedValueOnce(true).mockResolvedValue(false);
    outage.suspect(broken);
    await eventually(isOutageLogged, (logged) => !logged);
    expect(lines).toHaveLength(3);
  });

  it.each([
    ['the next one is made', () => isReadOnly.mockResolvedValue(false)],
    ['the server accepts no more connections', () => isReadOnly.mockRejectedValue(full)],
  ])('is not logged if a connection breaks and %s', async (_, given) => {
    given();
    outage.suspect(broken);
    await eventually(isOutageLogged, (logged) => !logged);
    expect(lines).toEqual(['A database connection was lost: Connection terminated unexpectedly']);
  });

  it('is not logged once the service stops', async () => {
    isReadOnly.mockRejectedValue(refused);
    outage.suspect(broken);
    outage.ignore();
    await new Promise((resolve) => setImmediate(resolve));
    outage.suspect(refused);
    expect([lines, isOutageLogged()]).toEqual([[], false]);
  });
});
