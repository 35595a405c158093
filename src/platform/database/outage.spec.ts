import { eventually } from '../../../test/support/jobs/eventually.js';
import { isOutageLogged, Outage, ReadOnlyTime } from './outage.js';

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
const full = Object.assign(new Error('too many connections'), { code: '53300' });
const broken = new Error('Connection terminated unexpectedly');

describe('an outage of the database', () => {
  const lines: string[] = [];
  const connect = jest.fn<Promise<void>, []>();
  let outage: Outage;

  beforeEach(() => {
    jest.resetAllMocks();
    lines.length = 0;
    outage = new Outage((line, error) => lines.push(error ? `error: ${line}` : line), connect);
  });
  afterEach(() => outage.ignore());

  const settled = () => new Promise((resolve) => setImmediate(resolve));
  it('is logged once, however many connections break or are refused', async () => {
    connect.mockRejectedValue(refused);
    outage.lost(broken);
    // From now on callers leave the report to the outage log.
    expect(isOutageLogged()).toBe(true);
    outage.lost(broken);
    await settled();
    outage.unreachable(refused);
    expect(isOutageLogged()).toBe(true);
    expect(lines).toEqual(['error: The database cannot be reached.']);
    outage.connected();
    expect(lines.slice(1)).toEqual(['The database is back after 0 s.']);
    expect(isOutageLogged()).toBe(false);
  });

  it.each([
    ['the next one is made', () => connect.mockResolvedValue()],
    ['the server accepts no more connections', () => connect.mockRejectedValue(full)],
  ])('is not logged if a connection breaks and %s', async (_, given) => {
    given();
    outage.lost(broken);
    await settled();
    expect(lines).toEqual(['A database connection was lost: Connection terminated unexpectedly']);
    expect(isOutageLogged()).toBe(false);
    outage.connected();
    expect(lines).toHaveLength(1);
  });

  it('ends when the database accepts a connection, even if the pool needs none', async () => {
    connect.mockRejectedValueOnce(refused).mockResolvedValue();
    outage.unreachable(refused);
    await eventually(isOutageLogged, (told) => !told);
    expect(connect).toHaveBeenCalledTimes(2);
    expect(lines[1]).toMatch(/is back/);
    expect(lines).toHaveLength(2);
  });

  it('is not logged once the service stops', async () => {
    connect.mockRejectedValue(refused);
    outage.lost(broken);
    outage.ignore();
    await settled();
    outage.unreachable(refused);
    expect([lines, isOutageLogged()]).toEqual([[], false]);
  });
});

describe('the time in which the database is read-only', () => {
  const refusal = Object.assign(new Error('cannot execute INSERT in a read-only transaction'), {
    code: '25006',
  });
  const lines: string[] = [];
  const isReadOnly = jest.fn<Promise<boolean>, []>();
  let time: ReadOnlyTime;

  beforeEach(() => {
    jest.resetAllMocks();
    lines.length = 0;
    time = new ReadOnlyTime(
      (line, error) => lines.push(error ? `error: ${line}` : line),
      isReadOnly,
    );
  });
  afterEach(() => time.ignore());

  it('is logged once, however many statements are refused, and once that it is over', async () => {
    isReadOnly.mockRejectedValueOnce(refused).mockResolvedValueOnce(true).mockResolvedValue(false);
    for (let n = 0; n < 5; n += 1) time.refused(refusal);
    expect(isOutageLogged()).toBe(true);
    await eventually(isOutageLogged, (told) => !told);
    expect(lines).toEqual([
      'error: The database is read-only.',
      expect.stringMatching(/^The database is writable again after \d+ s\.$/),
    ]);
  });

  it('is no such time if only an old connection is read-only', async () => {
    isReadOnly.mockResolvedValue(false);
    time.refused(refusal);
    await eventually(isOutageLogged, (told) => !told);
    expect(lines).toEqual(['A read-only database connection was replaced.']);
  });

  it('is not logged once the service stops', async () => {
    isReadOnly.mockResolvedValue(true);
    time.refused(refusal);
    time.ignore();
    await new Promise((resolve) => setImmediate(resolve));
    time.refused(refusal);
    expect([lines, isOutageLogged()]).toEqual([[], false]);
  });
});
