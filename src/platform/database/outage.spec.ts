import { eventually } from '../../../test/support/jobs/eventually.js';
import { isOutageTold, Outage } from './outage.js';

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
  it('is told once, however many connections break or are refused', async () => {
    connect.mockRejectedValue(refused);
    outage.lost(broken);
    // Whoever fails now leaves it to the line that comes.
    expect(isOutageTold()).toBe(true);
    outage.lost(broken);
    await settled();
    outage.unreachable(refused);
    expect(isOutageTold()).toBe(true);
    expect(lines).toEqual(['error: The database cannot be reached.']);
    outage.connected();
    expect(lines.slice(1)).toEqual(['The database is back after 0 s.']);
    expect(isOutageTold()).toBe(false);
  });

  it.each([
    ['the next one is made', () => connect.mockResolvedValue()],
    ['the server lets in no more', () => connect.mockRejectedValue(full)],
  ])('is none when a connection breaks and %s', async (_, given) => {
    given();
    outage.lost(broken);
    await settled();
    expect(lines).toEqual(['A database connection was lost: Connection terminated unexpectedly']);
    expect(isOutageTold()).toBe(false);
    outage.connected();
    expect(lines).toHaveLength(1);
  });

  it('is over when the database lets one in, though the pool needs no connection', async () => {
    connect.mockRejectedValueOnce(refused).mockResolvedValue();
    outage.unreachable(refused);
    await eventually(isOutageTold, (told) => !told);
    expect(connect).toHaveBeenCalledTimes(2);
    expect(lines[1]).toMatch(/is back/);
    expect(lines).toHaveLength(2);
  });

  it('is nothing to tell of once the service stops', async () => {
    connect.mockRejectedValue(refused);
    outage.lost(broken);
    outage.ignore();
    await settled();
    outage.unreachable(refused);
    expect([lines, isOutageTold()]).toEqual([[], false]);
  });
});
