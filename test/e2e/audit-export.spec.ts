import { DataSource } from 'typeorm';
import { AuditKeys } from '../../src/audit/chain/audit-chain.js';
import { AuditWitness } from '../../src/audit/chain/audit-witness.js';
import {
  type EntryLine,
  ExportCheck,
  type ExportFindings,
  type ExportLine,
} from '../../src/audit/audit-export.js';
import { eventually } from '../support/jobs/eventually.js';
import { as } from '../support/principals.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

const KEYS = 12;
const END = /the end does not fit/;
const inCapitals = (line: string) =>
  line.replace(/"mac":"(\w+)"/, (_, mac: string) => `"mac":"${mac.toUpperCase()}"`);

describe('an export of the audit trail', () => {
  const app = useStarted(() => startTestApp());
  const admin = useStarted(() => as(app, 'admin'));
  let lines: string[];

  beforeAll(async () => {
    for (let number = 0; number < KEYS; number += 1) await record(`exported-${number}`);
    // Some programs treat this character (U+2028) as a line break.
    await stop('a\u2028b');
    await everythingSealed();
    lines = await exported();
  });

  async function record(name: string): Promise<void> {
    expect((await admin.post('/api/api-keys', { name, role: 'viewer' })).status).toBe(201);
  }

  async function stop(reason: string): Promise<void> {
    for (const turn of ['activate', 'deactivate']) {
      expect((await admin.post(`/api/kill-switch/${turn}`, { reason })).status).toBe(200);
    }
  }

  async function everythingSealed(): Promise<void> {
    const text = 'select count(*)::int as rows from audit_log';
    await eventually(
      async () => (await app.sql<{ rows: number }[]>(text))[0]!.rows,
      (rows) => BigInt(rows) === app.nest.get(AuditWitness).head.seq,
    );
  }

  async function exported(query = ''): Promise<string[]> {
    const answer = await admin.get(`/api/audit/export${query}`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(answer.headers['content-disposition']).toBe('attachment; filename="audit.ndjson"');
    expect(answer.text.endsWith('\n')).toBe(true);
    return answer.text.split('\n').slice(0, -1);
  }

  function check(all: readonly string[]): ExportFindings {
    const run = new ExportCheck(app.nest.get(AuditKeys));
    for (const line of all) run.add(line);
    return run.finish();
  }

  const parsed = (line: string) => JSON.parse(line) as ExportLine;
  const entriesOf = (all: readonly string[]) =>
    all.map(parsed).filter((line): line is EntryLine => line.type === 'entry');

  it('is refused for a malformed range or an unknown parameter', async () => {
    for (const query of ['?from=yesterday', '?to=', '?page=2']) {
      const { status, headers } = await admin.get(`/api/audit/export${query}`);
      expect([status, headers['content-disposition']]).toEqual([422, undefined]);
    }
  });

  it('omits fields without a value', () => {
    expect(lines.filter((line) => Object.values(parsed(line)).includes(null))).toEqual([]);
  });

  it('is not recorded if nothing was sent', async () => {
    const recorded = async (): Promise<number> =>
      (await admin.get('/api/audit?action=audit.exported')).body.meta.total;
    const before = await recorded();
    const answer = await admin.request('HEAD', '/api/audit/export');
    expect([answer.status, answer.text]).toEqual([200, '']);
    expect(answer.headers['content-type']).toBe('application/x-ndjson');
    expect(await recorded()).toBe(before);
    await exported();
    expect(await recorded()).toBe(before + 1);
  });

  it('contains every entry with its seal, passes verification, and adds an audit entry', async () => {
    const findings = check(lines);
    expect(findings).toMatchObject({ valid: true, faults: [] });
    // `sealed` does not count the record of the export, which is not sealed yet.
    expect(findings.sealed).toBeGreaterThanOrEqual(KEYS);
    const entries = entriesOf(lines);
    const created = entries.filter(({ action }) => action === 'api_key.created');
    expect(created.length).toBeGreaterThanOrEqual(KEYS);
    expect(entries.at(-1)!.action).toBe('audit.exported');
    expect(entries.at(-1)).not.toHaveProperty('seal');
    const listed = await admin.get('/api/audit?action=audit.exported');
    expect(listed.body.meta.total).toBeGreaterThanOrEqual(1);
  });

  it('of a range contains its entries, passes verification and is bound to its place in the chain', async () => {
    const [first, last] = [entriesOf(lines)[4]!, entriesOf(lines)[8]!];
    const range = await exported(`?from=${first.at}&to=${last.at}`);
    expect(check(range)).toMatchObject({ valid: true });
    const ids = entriesOf(range).map(({ id }) => id);
    const expected = entriesOf(lines).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(expected.slice(4, 9)));
    expect(ids.length).toBeLessThan(expected.length);
    const header = JSON.parse(range[0]!) as { previous: { seq: string } };
    expect(BigInt(header.previous.seq)).toBeGreaterThan(0n);
    const moved = JSON.stringify({ ...header, previous: { ...header.previous, seq: '1' } });
    expect(check([moved, ...range.slice(1)]).valid).toBe(false);
  });

  it.each(['?to=2000-01-01T00:00:00Z', '?from=2999-01-02T00:00:00Z&to=2999-01-01T00:00:00Z'])(
    'is empty and valid for a range without entries: %s',
    async (query) => {
      const range = await exported(query);
      expect(range.map((line) => parsed(line).type)).toEqual(['export', 'end']);
      expect(check(range)).toMatchObject({ valid: true, sealed: 0, unsealed: 0 });
    },
  );

  type Change = (all: string[]) => string[];
  const edit =
    (at: number, from: RegExp | string, to: string): Change =>
    (all) =>
      all.with(at, all.at(at)!.replace(from, to));
  const capitals =
    (at: number): Change =>
    (all) =>
      all.with(at, inCapitals(all.at(at)!));

  it.each<[string, Change, RegExp]>([
    ['an edited entry', edit(5, '"actor":"', '"actor":"x'), /line 6: entry \S+ was changed/],
    ['an edited time', edit(5, /"at":"2/, '"at":"1'), /was changed/],
    ['edited details', edit(5, '\\"', ' \\"'), /was changed/],
    [
      'a removed entry',
      (all) => all.toSpliced(5, 1),
      /line 6: entry \S+ entries are missing or moved/,
    ],
    ['a removed first entry', (all) => all.toSpliced(1, 1), /missing or moved/],
    ['a removed last sealed entry', (all) => all.toSpliced(-3, 1), END],
    ['a removed entry without seal', (all) => all.toSpliced(-2, 1), END],
    ['an inserted copy', (all) => all.toSpliced(5, 0, all[5]!), /missing or moved/],
    ['two swapped entries', (all) => all.with(5, all[6]!).with(6, all[5]!), /missing or moved/],
    ['the seal of another entry', (all) => withSealOf(all, 5, 6), /missing or moved/],
    ['a missing end', (all) => all.slice(0, -1), /it was cut/],
    ['a missing half', (all) => all.slice(0, 6), /it was cut/],
    ['a missing header', (all) => all.slice(1), /has no header/],
    ['the end of another export', (all) => all.with(-1, ended(all)), END],
    ['another object', (all) => all.toSpliced(3, 0, '{"a":1}'), /is not a line of an export/],
    ['malformed JSON', (all) => all.toSpliced(3, 0, '{'), /is not a line of an export/],
    ['duplicate members', edit(5, '{', '{"actor":"x","at":"2020-01-01T00:00:00.000Z",'), END],
    ['an added member', edit(5, /}$/, ',"note":"seen"}'), END],
    ['an added member in a seal', edit(5, /}}$/, ',"by":"me"}}'), END],
    ['a longer MAC', edit(5, /("mac":"\w+)/, '$1zz'), END],
    ['a MAC in capitals', capitals(5), END],
    ['another format of a time', edit(5, /("at":"[\d-]+)T([\d:.]+)Z/, '$1 $2+00:00'), END],
    ['white space', edit(5, /$/, '\r'), END],
    ['an added member in the header', edit(0, '{', '{"at":"2020",'), END],
    ['a second header', (all) => all.toSpliced(5, 0, all[0]!), /line 6: is a second header/],
    ['an added member in the end', edit(-1, '{', '{"sealed":1,'), END],
    ['another key in the end', edit(-1, /"key_id":"\w+/, '"key_id":"ab'), /needs the key ab/],
    ['an end with its MAC in capitals', capitals(-1), END],
    ['a line after the end', (all) => [...all, all[2]!], /comes after the end/],
  ])('is found invalid because of %s', (_, change, fault) => {
    const findings = check(change([...lines]));
    expect(findings.valid).toBe(false);
    expect(findings.faults.join('\n')).toMatch(fault);
  });

  function withSealOf(all: string[], to: number, from: number): string[] {
    const { seal } = parsed(all[from]!) as EntryLine;
    return all.with(to, JSON.stringify({ ...parsed(all[to]!), seal }));
  }

  const ended = (all: string[]) => JSON.stringify({ ...parsed(all.at(-1)!), sealed: 1 });

  it('fails verification if an entry was removed from the database', async () => {
    const { id } = entriesOf(lines)[3]!;
    const owner = app.nest.get(DataSource);
    await owner.query(`begin; alter table audit_log disable trigger user;
      create table removed as select * from audit_log where id = '${id}';
      delete from audit_log where id = '${id}';
      alter table audit_log enable trigger user; commit`);
    const findings = check(await exported());
    await owner.query('insert into audit_log select * from removed');
    expect(findings.faults).toEqual([expect.stringContaining(`entry ${id} was removed`)]);
  });

  it('contains every entry of a trail of several pages', async () => {
    const body = { incident_type: 'phishing', severity: 'low', source: 'test', raw_data: {} };
    const made = Array.from({ length: 150 }, () => admin.post('/api/incidents', body));
    for (const { status } of await Promise.all(made)) expect(status).toBe(201);
    await everythingSealed();
    const findings = check(await exported());
    expect(findings).toMatchObject({ valid: true });
    expect(findings.sealed).toBeGreaterThan(150);
  });
});
