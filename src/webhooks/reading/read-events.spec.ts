import type { ReadingRules } from '../sources/webhook-source.entity.js';
import type { Json } from './event-json.js';
import { openBody, type ReadEvent } from './read-events.js';

const source = { source: 'siem' };
const byMapping = (mapping: ReadingRules['mapping']) =>
  ({ ...source, format: 'mapping', mapping }) as const;

function all(rules: ReadingRules, body: Json): ReadEvent[] {
  const read = openBody(rules, body).read();
  if (typeof read === 'string') throw new Error(read);
  return read;
}

function only(rules: ReadingRules, body: Json) {
  const [event, ...others] = all(rules, body);
  expect(others).toEqual([]);
  return event!;
}

describe('the events of a body', () => {
  it('given a changed shared severity → the content differs', () => {
    const rules = byMapping({ items: '/alerts', severity: '^/common', event_id: '/id' });
    const read = (common: string) => only(rules, { common, alerts: [{ id: 'a' }] });
    expect(read('high').contentHash).toEqual(read('high').contentHash);
    expect(read('critical').key).toEqual(read('high').key);
    expect(read('critical').contentHash).not.toEqual(read('high').contentHash);
  });

  it('given a fixed type and a minimum severity → words of the event do not change them', () => {
    const mapping = { title: '/t', type: '/type', severity: '/level' };
    const read = (rules: Partial<ReadingRules>, event: Json) =>
      only({ ...byMapping(mapping), ...rules }, event).incident;
    const chosen = { t: 'x', type: 'spam', level: 'low' };
    expect(read({}, chosen)).toMatchObject({ incident_type: 'spam', severity: 'low' });
    const fixed = {
      incident_type: 'intrusion',
      incident_type_fixed: true,
      min_severity: 'high',
    } as const;
    expect(read(fixed, chosen)).toMatchObject({ incident_type: 'intrusion', severity: 'high' });
    expect(read(fixed, { ...chosen, level: 'critical' }).severity).toBe('critical');
    expect(read({ incident_type_fixed: true }, chosen).incident_type).toBe('other');
  });

  it('given an alert that is over → the incident has the minimum severity of the source', () => {
    const state = { status: 'closed' };
    const read = (rules: Partial<ReadingRules> & Pick<ReadingRules, 'format'>, event: Json) => {
      const { severity, source_status } = only({ ...source, ...rules }, event).incident;
      return [severity, source_status];
    };
    const generic = {
      event_type: 'malware',
      data: { alert_id: 'a', severity: 'critical', details: state },
    };
    expect(read({ format: 'auto' }, generic)).toEqual(['low', 'resolved']);
    expect(read({ format: 'auto', min_severity: 'high' }, generic)).toEqual(['high', 'resolved']);
    const wazuh = { id: '1', rule: { level: 'critical' }, data: state, details: state };
    const mapping = { severity: '/rule/level', event_id: '/id' };
    expect(read({ format: 'mapping', mapping }, wazuh)).toEqual(['critical', undefined]);
    const enveloped = { data: { id: '1', level: 'critical', ...state } };
    const inData = { severity: '/data/level', event_id: '/data/id' };
    expect(read({ format: 'mapping', mapping: inData }, enveloped)).toEqual(['low', 'resolved']);
  });

  it('given a list → each item is an event if one item fits the format', () => {
    const alert = (id: string) => ({ event_type: 'malware', data: { alert_id: id } });
    const rules = { ...source, format: 'auto', incident_type: 'intrusion' } as const;
    const body = [alert('a'), null, { other: 1 }, alert('b'), 'broken'];
    expect(openBody(rules, body).count).toBe(4);
    const types = all(rules, body).map(({ incident }) => incident.incident_type);
    expect(types).toEqual(['malware', 'intrusion', 'malware', 'intrusion']);
    expect(JSON.parse(all(rules, body)[3]!.incident.raw_data)).toEqual({ event: 'broken' });
    expect(openBody(rules, [{ other: 1 }]).read()).toBe('The body fits no known format.');
    expect(openBody(rules, []).read()).toEqual([]);
  });

  it('have different keys for an id and for content that looks like the id', () => {
    const rules = byMapping({ items: '/alerts', title: '^/t', event_id: '/id' });
    const [withId, without] = all(rules, { t: 't', alerts: [{ id: '[1]' }, 1] });
    expect(withId!.eventId).toBe('[1]');
    expect(without!.eventId).toBeUndefined();
    expect(withId!.key).not.toEqual(without!.key);
  });

  it('are wrapped in an object if they are not objects, and keep their raw data unchanged', () => {
    const rules = byMapping({ items: '/a', title: '^/t', lift: { host: '^/host' } });
    const [text, object] = all(rules, { t: 't', host: 'h', a: ['x', { host: 'own' }] });
    expect(JSON.parse(text!.incident.raw_data)).toEqual({ event: 'x' });
    expect(JSON.parse(object!.incident.raw_data)).toEqual({ host: 'own' });
    expect(text!.incident.fields).toEqual({ host: 'h' });
    expect(object!.incident.fields).toEqual({ host: 'h' });
  });

  it('contain only the beginning of a long unknown severity', () => {
    const { unknownSeverity, incident } = only(
      { ...source, format: 'generic' },
      {
        event_type: 'other',
        timestamp: '2026-01-31T09:30:00Z',
        source: 's',
        data: { alert_id: '1', severity: 'z'.repeat(900), details: {} },
      },
    );
    expect(incident.severity).toBe('medium');
    expect(unknownSeverity).toHaveLength(100);
  });

  it('given no mapping → there are none', () => {
    expect(openBody(byMapping(undefined), { a: 1 }).read()).toEqual(expect.any(String));
  });

  it('are read in parts if there are more than 1 000', () => {
    const rules = byMapping({ items: '/a', title: '/t' });
    const body = { a: Array.from({ length: 1_001 }, (_, t) => ({ t })) };
    expect(openBody(rules, body).count).toBe(1_001);
    expect(all(rules, body)).toHaveLength(1_000);
    expect(openBody(rules, body).read(1_000)).toHaveLength(1);
  });

  it('do not include null and empty items of a list', () => {
    const rules = byMapping({ items: '/a', title: '/t' });
    expect(all(rules, { a: [null, {}, { t: 'x' }, []] })).toHaveLength(1);
  });
});
