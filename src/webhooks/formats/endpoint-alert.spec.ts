import type { Json, JsonObject } from '../reading/json.js';
import { endpointAlert } from './endpoint-alert.js';

const read = (event: JsonObject, eventType: Json = 'EppDetectionSummaryEvent') =>
  endpointAlert.read({ metadata: { eventType }, event: { CompositeId: 'c:1', ...event } });

describe('a detection of the event streams', () => {
  it.each([
    [1, 'low'],
    [2, 'low'],
    [3, 'medium'],
    [4, 'high'],
    [5, 'critical'],
    ['4', 'high'],
    [0, 'low'],
    [0.5, 'low'],
    [4.5, 'low'],
    [6, 'low'],
    [39.9, 'low'],
    [40, 'medium'],
    [59.9, 'medium'],
    [60, 'high'],
    [79.9, 'high'],
    [80, 'critical'],
    [100, 'critical'],
    [100.5, undefined],
    [-1, undefined],
    ['four', undefined],
    [JSON.rawJSON('70.000000000000000001'), 'high'],
  ] as const)('has for a severity of %p the level %s', (Severity, level) => {
    expect(read({ Severity })?.severity?.level).toBe(level);
  });

  it('says the word of its severity rather than the number', () => {
    expect(read({ Severity: 90, SeverityName: 'Low' })?.severity).toEqual({
      said: 'Low',
      number: 90,
      level: 'critical',
    });
    expect(read({ Severity: 30, SeverityName: ' ' })?.severity?.said).toBe('30');
    expect(read({})?.severity).toBeUndefined();
  });

  it('keeps each digit of an id that is a number', () => {
    const id = JSON.rawJSON('1719309930613520072');
    expect(read({ CompositeId: id })?.eventId).toBe('1719309930613520072');
    expect(read({ DetectId: 'ldt:1' })?.eventId).toBe('ldt:1');
  });

  it.each([
    [{ Tactic: 'Malware', Technique: 'Ransomware' }, 'ransomware'],
    [{ Tactic: 'Impact', Technique: 'Data Encrypted for Impact' }, 'ransomware'],
    [{ Tactic: 'Exfiltration', Technique: 'Exfiltration Over C2 Channel' }, 'data_exfiltration'],
    [{ Tactic: 'Malware', Technique: 'PUP' }, 'malware'],
    [{ Tactic: 'Initial Access', Technique: 'Valid Accounts' }, undefined],
  ])('with %j is of the type %s', (event, type) => expect(read(event)?.type).toBe(type));

  it.each([
    ['DetectionSummaryEvent', 'malware'],
    ['MobileDetectionSummaryEvent', 'malware'],
    ['IdpDetectionSummaryEvent', 'suspicious_login'],
    ['IDENTITYPROTECTIONEVENT', 'suspicious_login'],
    ['DataProtectionDetectionSummaryEvent', 'data_exfiltration'],
  ])('of the stream %s is usually %s', (stream, usual) =>
    expect(read({}, stream)?.usualType).toBe(usual),
  );

  it('needs an id, or a name and a severity', () => {
    const bare = (event: JsonObject) => endpointAlert.read({ metadata: { eventType: 'X' }, event });
    expect(bare({ Name: 'n', Severity: 3 })).toMatchObject({ title: 'n', eventId: undefined });
    expect(bare({ DetectId: 'd' })).toMatchObject({ title: 'X', eventId: 'd' });
    expect(bare({ Name: 'n' })).toBeUndefined();
    expect(bare({ Severity: 3 })).toBeUndefined();
    expect(read({}, 7)).toBeUndefined();
  });
});
