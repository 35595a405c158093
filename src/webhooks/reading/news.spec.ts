import type { Json } from './event-json.js';
import { newsAfter, overWordOf, saysOpen } from './news.js';

const saysMore = (event: Json, [first, newest]: readonly Json[]): boolean =>
  newsAfter(first!, newest)(event);

const FIRST = {
  id: 7,
  host: 'ws-1',
  seen: '2026-01-31T09:30:00Z',
  count: 3,
  confirmed: false,
  summary: 'Login from 192.0.2.7, CPU at 93.25 %',
  tags: ['a', 'b'],
};

describe('the search for news in a later event', () => {
  it.each([
    ['another text', { ...FIRST, host: 'ws-2' }],
    ['a text under a new key', { ...FIRST, verdict: 'true_positive' }],
    ['a changed boolean', { ...FIRST, confirmed: true }],
    ['a line that begins with a time', { ...FIRST, seen: '2026-11-23 10:00:00 mimikatz.exe ran' }],
    ['a status beyond handling', { ...FIRST, status: 'not mitigated' }],
    ['another address in a text', { ...FIRST, summary: 'Login from 192.0.2.8, CPU at 97.1 %' }],
    ['another count in a text', { ...FIRST, summary: 'Login 2 from 192.0.2.7, CPU at 97.1 %' }],
    ['a further member of a list', { ...FIRST, tags: ['a', 'b', 'c'] }],
  ])('finds news: %s', (_, event) => {
    expect(saysMore(event, [FIRST])).toBe(true);
  });

  it.each([
    ['the same event', FIRST],
    ['a later time and a higher count', { ...FIRST, seen: '2026-02-01 10:00:00', count: 4 }],
    ['another measured value in a text', { ...FIRST, summary: 'Login from 192.0.2.7, CPU at 8 %' }],
    ['another order of a list', { ...FIRST, tags: ['b', 'a'] }],
    ['less than before', { host: 'ws-1' }],
    [
      'an assignment',
      { ...FIRST, assigned_to_name: 'Ana', assignee: { email: 'ana@example.com' } },
    ],
    ['a comment', { ...FIRST, comments: [{ text: 'On it.' }], notes: 'x' }],
    ['progress of the handling', { ...FIRST, status: 'in_progress', alertState: 'Acknowledged' }],
  ])('finds no news: %s', (_, event) => {
    expect(saysMore(event, [FIRST])).toBe(false);
  });

  it('compares with the first event and the newest report', () => {
    const later = { ...FIRST, host: 'ws-2' };
    expect(saysMore(FIRST, [later, FIRST])).toBe(false);
  });

  it.each([
    [{ status: 'resolved' }, true],
    [{ threatInfo: { incidentStatus: 'Closed' } }, true],
    [{ data: { details: { status: 'closed' } } }, true],
    [{ tcp: { state: 'closed' } }, false],
    [{ evidence: [{ remediationStatus: 'resolved' }] }, false],
    [{ data: { essentials: { monitorCondition: 'Resolved' } } }, true],
    [{ alert_transition: 'Recovered' }, true],
    [{ connectionState: 'closed' }, false],
    [{ status: 'firing' }, false],
    [{ message: 'closed' }, false],
    [{ details: ['closed'] }, false],
    [{ status: ['closed'] }, false],
    ['closed', false],
    [{ data: { request: { body: { event: { status: 'suppressed' } } } } }, false],
    [{ service: { additionalInfo: { details: { status: 'dismissed' } } } }, false],
  ])('given %j, finds that the alert is over: %s', (event, over) => {
    expect(overWordOf(event, JSON.stringify(event)) !== undefined).toBe(over);
  });

  it('treats an event with too many values as news', () => {
    const long = Array.from({ length: 25_000 }, () => 'x');
    expect(saysMore({ long }, [{ long }])).toBe(true);
    const shorter = long.slice(2);
    expect(saysMore({ long: shorter }, [{ long: shorter }])).toBe(false);
  });

  it('needs memory linear in the size of the event, even if a long key has many values', () => {
    const event = { ['k'.repeat(100_000)]: Array.from({ length: 10_000 }, (_, n) => `v${n}`) };
    const heap = process.memoryUsage().heapUsed;
    expect(saysMore({ ...event, more: 'x' }, [event, event])).toBe(true);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(200 * 1024 * 1024);
  });
});

describe('saysOpen', () => {
  it.each([
    [{ status: 'open' }, true],
    [{ alert: { state: 'Reopened' } }, true],
    [{ status: 'firing' }, true],
    [{ host: 'ws-1', severity: 'high' }, false],
    [{ status: 'resolved' }, false],
    [{ process: { state: 'active' } }, false],
  ])('given %j, returns %s', (event, isOpen) => expect(saysOpen(event)).toBe(isOpen));
});
