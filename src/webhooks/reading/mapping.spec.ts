import { parsePointer } from '../../platform/json-pointer.js';
import type { Mapping } from '../sources/webhook-source.entity.js';
import type { Json } from './event-json.js';
import { alertReader, eventsOf, isEmptyByMapping, isTold, resolve } from './mapping.js';
import type { Alert } from './words.js';

/** Returns the alerts of a body. Returns `undefined` if the mapping finds no value in any event. */
function readByMapping(mapping: Mapping, body: Json): Alert[] | undefined {
  const found = eventsOf(mapping, body);
  const alerts = found.map(alertReader(mapping));
  return alerts.some(isTold) ? alerts : undefined;
}

function alertOf(mapping: Mapping, body: Json) {
  const alerts = readByMapping(mapping, body);
  expect(alerts).toHaveLength(1);
  return (alerts as Exclude<typeof alerts, string | undefined>)[0]!;
}

const TITLE: Mapping = { title: '/title' };
const json = (text: string) => JSON.parse(text) as Json;

describe('readByMapping', () => {
  it('reads each mapped part, and omits absent parts', () => {
    const mapping: Mapping = {
      title: '/a/title',
      severity: '/a/level',
      event_id: '/id',
      type: '/kind',
      lift: { host: '/host', user: '/user' },
    };
    const body = { a: { title: ' Alarm ', level: 7.5 }, id: 12, kind: 'malware', host: 'web-1' };
    expect(alertOf(mapping, body)).toEqual({
      event: body,
      usualType: 'other',
      title: 'Alarm',
      severity: { said: '7.5' },
      eventId: '12',
      words: ['malware'],
      lift: { host: 'web-1' },
    });
    expect(alertOf(mapping, { id: '7' })).toEqual({
      event: { id: '7' },
      usualType: 'other',
      eventId: '7',
    });
  });

  it.each<[Json, string]>([
    [{ a: 'first', b: 'second' }, 'first'],
    [{ b: 'second' }, 'second'],
    [{ a: null, b: 'second' }, 'second'],
    [{ a: '   ', b: 'second' }, 'second'],
    [{ a: { text: 'x' }, b: 'second' }, 'second'],
    [{ a: [], b: 'second' }, 'second'],
    [{ a: [{}, 'x'], b: 'second' }, 'second'],
    [{ a: [['x']], b: 'second' }, 'second'],
    [{ a: true, b: 'second' }, 'second'],
    [{ a: ['of a list', 'x'], b: 'second' }, 'of a list'],
    [{ a: 0, b: 'second' }, '0'],
  ])('uses the first pointer that leads to text or a number: %j', (body, title) => {
    expect(alertOf({ title: ['/a', '/b'] }, body).title).toBe(title);
  });

  it('joins the values of an inner list if each pointer leads to a value', () => {
    const mapping: Mapping = { title: [['/rule', '/host'], '/rule'] };
    expect(alertOf(mapping, { rule: 'Alarm', host: 'web-1' }).title).toBe('Alarm - web-1');
    expect(alertOf(mapping, { rule: 'Alarm', host: {} }).title).toBe('Alarm');
  });

  it('returns different ids for values that look the same when they are joined', () => {
    const mapping: Mapping = { event_id: [['/a', '/b']] };
    const [one, other] = [
      { a: 'x y', b: 'z' },
      { a: 'x', b: 'y z' },
    ].map((body) => alertOf(mapping, body).eventId);
    expect(one).toBe('["x y","z"]');
    expect(other).not.toBe(one);
  });

  it('keeps the digits of an id that JavaScript would round', () => {
    const id = JSON.rawJSON('12345678901234567890');
    expect(alertOf({ event_id: '/id' }, { id }).eventId).toBe('12345678901234567890');
  });

  it('copies texts, numbers, booleans and the first item of a list into `fields`', () => {
    const mapping: Mapping = {
      title: '/t',
      lift: { a: '/a', b: '/b', c: '/c', d: '/d', e: '/e', f: '/f' },
    };
    const body = { t: 'x', a: ' text ', b: 3, c: false, d: ['one', 'two'], e: { no: 1 }, f: null };
    expect(alertOf(mapping, body).lift).toEqual({ a: 'text', b: '3', c: 'false', d: 'one' });
  });

  it('never cuts a long copied text inside a character', () => {
    const { lift, event } = alertOf(
      { title: '/t', lift: { a: '/a' } },
      json(`{"t":"x","a":"${'a'.repeat(1_999)}😀😀"}`),
    );
    expect(lift!['a']).toBe(`${'a'.repeat(1_999)}\ufffd`);
    expect(JSON.stringify(event)).toContain('😀😀');
  });
});

describe('the events of a body', () => {
  const ALERTS: Mapping = { items: '/alerts', title: ['/title', '^/title'] };

  it('are the items of a list, each with its own values and the shared values', () => {
    const body: Json = { title: 'shared', alerts: [{ title: 'own' }, { other: 1 }] };
    expect(readByMapping(ALERTS, body)).toMatchObject([
      { event: { title: 'own' }, title: 'own' },
      { event: { other: 1 }, title: 'shared' },
    ]);
  });

  it('are the items of all lists to which the pointers lead', () => {
    const mapping: Mapping = { items: ['/a', '/none', '/b', '/c'], title: '/title' };
    const body = { a: [{ title: '1' }], b: [], c: [{ title: '2' }, { title: '3' }] };
    expect(readByMapping(mapping, body)).toMatchObject(['1', '2', '3'].map((title) => ({ title })));
  });

  it('are the items of a body that is a list', () => {
    expect(readByMapping({ items: '', title: '/t' }, [{ t: 'a' }, { t: 'b' }])).toHaveLength(2);
  });

  it('given a list of bodies → each event has the shared values of its body', () => {
    const batch: Json = [
      { site: 'a', alerts: [{ title: '1' }, { other: 1 }] },
      null,
      { site: 'b', alerts: [{ title: '2' }] },
      'broken',
    ];
    const mapping: Mapping = { ...ALERTS, lift: { account: '^/site' } };
    expect(readByMapping(mapping, batch)).toMatchObject([
      { title: '1', lift: { account: 'a' } },
      { event: { other: 1 }, lift: { account: 'a' } },
      { title: '2', lift: { account: 'b' } },
      { event: 'broken' },
    ]);
    expect(eventsOf(mapping, batch).length).toBe(4);
    expect(readByMapping(TITLE, [{ title: 'x' }, { title: 'y' }])).toHaveLength(2);
    expect(readByMapping(ALERTS, ['broken', { other: 1 }])).toBeUndefined();
  });

  it('given a mapping of the whole list → the list is one body', () => {
    const body: Json = [{ title: 'x' }, { host: 'h' }];
    const mapping: Mapping = { title: '/0/title', lift: { host: '/1/host' } };
    expect(readByMapping(mapping, body)).toMatchObject([{ title: 'x', lift: { host: 'h' } }]);
    expect(readByMapping({ items: '/0/a', title: '/t' }, [{ a: [{ t: 'x' }] }])).toHaveLength(1);
  });

  it('given no list with items → the first object is the event', () => {
    const mapping: Mapping = { items: ['/value', ''], title: '/title' };
    expect(readByMapping(mapping, { title: 'one' })).toMatchObject([{ title: 'one' }]);
    expect(readByMapping(mapping, { value: { title: 'in' } })).toMatchObject([{ title: 'in' }]);
    expect(readByMapping(mapping, { title: 'one', value: [] })).toMatchObject([{ title: 'one' }]);
    expect(readByMapping(mapping, { title: 'x', value: [{ title: 'y' }] })).toHaveLength(1);
  });

  it('include an item without mapped values, but no null or empty item', () => {
    const body: Json = { a: [{ t: 'x' }, { other: 1 }, 7, {}, null, []] };
    expect(readByMapping({ items: '/a', title: '/t' }, body)).toHaveLength(3);
  });

  it.each<[Mapping, Json]>([
    [{ items: '/alerts', title: '/title' }, { title: 'no list' }],
    [{ items: '/alerts', title: '/title' }, { alerts: [] }],
    [{ items: '/alerts', title: '/title' }, { alerts: 'text' }],
    [{ items: '/alerts', title: '/title' }, { alerts: [{}, { other: 'x' }] }],
    [TITLE, { other: 'x' }],
    [TITLE, {}],
    [TITLE, []],
    [TITLE, null],
    [TITLE, 'title'],
    [{ title: '/title', lift: { host: '/host' } }, { host: 'web-1' }],
    [{ title: 'broken' }, { broken: 'x' }],
  ])('given a body that does not fit → there are none: %j %j', (mapping, body) => {
    expect(readByMapping(mapping, body)).toBeUndefined();
  });

  it('neither read nor change a prototype', () => {
    const body = json('{"title":"x","__proto__":{"polluted":"yes"}}');
    const mapping: Mapping = {
      title: '/title',
      lift: { a: '/polluted', b: '/toString/name', constructor: '/title' },
    };
    expect(Object.entries(alertOf(mapping, body).lift!)).toEqual([['constructor', 'x']]);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
  });
});

describe('isEmptyByMapping', () => {
  const PAGES: Mapping = { items: ['/data/0/logs', '/alerts', ''], title: '/t' };

  it.each<Json>([
    { alerts: [] },
    { alerts: [null, {}], total: 0, next: null },
    { meta: { status: 200 }, data: [{ logs: [], count: 0 }], fail: [] },
    [{ alerts: [] }, { alerts: [] }],
  ])('is true if the lists of events exist and are empty: %j', (body) => {
    expect(isEmptyByMapping(PAGES, body)).toBe(true);
  });

  it.each<Json>([
    {},
    { total: 0 },
    { alerts: 'none' },
    { alerts: [{ t: 'x' }] },
    { alerts: [{ other: 1 }] },
    { alerts: [], errors: [{ code: 401 }] },
    { alerts: [], alarms: ['x'] },
    { data: [{ logs: [] }, 'x'], alerts: [] },
    [{ alerts: [] }, { other: 1 }],
    'text',
    null,
  ])('is false if an item exists, or if no list of events exists: %j', (body) => {
    expect(isEmptyByMapping(PAGES, body)).toBe(false);
  });

  it('is false for a mapping without a list', () => {
    expect(isEmptyByMapping(TITLE, { alerts: [] })).toBe(false);
  });
});

describe('a text that 1 000 events share', () => {
  const long = 'x'.repeat(900_000);
  const body = { events: Array.from({ length: 1_000 }, (_, n) => ({ n })), long } as Json;

  it('does not cost 1 000 times its size', () => {
    const lift = Object.fromEntries(Array.from({ length: 32 }, (_, n) => [`key_${n}`, '^/long']));
    const alerts = readByMapping(
      {
        items: '/events',
        title: [['^/long', '/n']],
        severity: '^/long',
        event_id: [['^/long', '/n'], '/n'],
        lift,
      },
      body,
    );
    expect(alerts).toHaveLength(1_000);
    expect(JSON.stringify(alerts).length).toBeLessThan(8 * 1024 * 1024);
    expect((alerts as Alert[])[7]).toMatchObject({ eventId: '7', severity: undefined });
  });
});

describe('recipients of a mail', () => {
  const mapping = { title: '/t', lift: { recipient: ['/mailbox', '/to'] } };
  const liftOf = (event: Json) => readByMapping(mapping, event)?.[0]?.lift;

  it('are all copied into `fields` if the recipient is a list', () => {
    const to = ['Ann <ann@example.com>', 'bob@example.com', 'undisclosed', 7];
    expect(liftOf({ t: 'x', to })).toMatchObject({
      recipient: 'Ann <ann@example.com>',
      recipients: 'ann@example.com, bob@example.com',
    });
    expect(liftOf({ t: 'x', to: ['ann@example.com'] })).not.toHaveProperty('recipients');
    expect(liftOf({ t: 'x', to: 'ann@example.com' })).not.toHaveProperty('recipients');
  });
});

const at = (value: Parameters<typeof resolve>[0], pointer: string) =>
  resolve(value, parsePointer(pointer)!);

describe('resolve', () => {
  it('returns the value to which the pointer leads', () => {
    expect(at({ a: [{ 'b/c': 1 }] }, '/a/0/b~1c')).toBe(1);
    expect(at({ a: 1 }, '/b')).toBeUndefined();
  });

  it('does not resolve a pointer into a number that keeps its digits', () => {
    const exact = JSON.rawJSON('12345678901234567890');
    expect(at({ n: exact }, '/n')).toBe(exact);
    expect(at({ n: exact }, '/n/rawJSON')).toBeUndefined();
  });
});
