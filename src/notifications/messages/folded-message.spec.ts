import { messageAbout } from '../../../test/support/notifications/messages.js';
import type { IncidentState } from '../../incidents/incident.js';
import { newId } from '../../platform/ids.js';
import { foldedMessage, type PresentState } from './folded-message.js';

const created = (n: number, severity = 'high') =>
  messageAbout('incident.created', {
    event_id: newId(),
    occurred_at: new Date(1_795_000_000_000 + n * 1_000),
    subject_id: `id-${n}`,
    incident_number: `INC-2026-${n}`,
    payload: { title: `Beacon ${n}`, incident_type: 'malware', severity, source: 'edr' },
  });

const nothingNew: PresentState = { incidents: new Map(), waiting: new Map() };
const since = (states: Record<string, Partial<IncidentState>>): PresentState => ({
  ...nothingNew,
  incidents: new Map(
    Object.entries(states).map(([id, state]) => [
      id,
      {
        id,
        incident_number: id,
        status: 'triaged',
        classification: null,
        deleted_at: null,
        ...state,
      },
    ]),
  ),
});
const approval = (n: number, more: object = {}) =>
  messageAbout('action.pending_approval', {
    event_id: newId(),
    occurred_at: new Date(1_795_000_000_000 + n * 1_000),
    subject_id: `act-${n}`,
    incident_id: `id-${n}`,
    incident_number: `INC-2026-${n}`,
    payload: {
      action_type: 'isolate_host',
      target: `WS-${n}`,
      requested_by: 'playbook:malware-containment',
      approval_level: 'senior',
      incident_title: `Beacon ${n}`,
      severity: 'medium',
      ...more,
    },
  });
const waiting = (...actions: string[]): PresentState => ({
  ...nothingNew,
  waiting: new Map(actions.map((id) => [id, undefined])),
});

describe('a summary message of several incidents', () => {
  it('equals the message of the incident if there is only one incident', () => {
    const one = created(1);
    expect(foldedMessage([one], nothingNew)).toEqual(one);
  });

  it('counts the incidents, and names and links the most severe incident', () => {
    const [carrier, ...more] = [created(1), created(2, 'medium'), created(3), created(4, 'low')];
    const { words, event, severity } = foldedMessage([carrier, ...more], nothingNew);
    expect([event.id, severity]).toEqual([carrier.event.id, 'high']);
    expect(words).toEqual({
      headline: '4 new incidents from edr: INC-2026-3',
      about: 'Beacon 3',
      facts: {
        'INC-2026-3': 'high: Beacon 3',
        'INC-2026-1': 'high: Beacon 1',
        'INC-2026-2': 'medium: Beacon 2',
        'INC-2026-4': 'low: Beacon 4',
      },
      url: 'https://triage.example.com/docs?incident=id-3',
    });
  });

  it('names the malicious incident first, before incidents with a higher severity', () => {
    const [carrier, ...more] = [created(1, 'high'), created(2, 'medium'), created(3, 'low')];
    const present = since({
      'id-2': { classification: 'malicious' },
      'id-1': { classification: 'suspicious' },
    });
    const { severity, words } = foldedMessage([carrier, ...more], present);
    expect(severity).toBe('high');
    expect(words.headline).toBe('3 new incidents from edr, 1 judged malicious: INC-2026-2');
    expect(Object.values(words.facts).slice(0, 3)).toEqual([
      'medium, malicious: Beacon 2',
      'high, suspicious: Beacon 1',
      'low: Beacon 3',
    ]);
  });

  it('lists last the incidents that were resolved or deleted while the message waited', () => {
    const resolved = since({ 'id-1': { status: 'resolved' } });
    expect(foldedMessage([created(1)], resolved).words.headline).toBe(
      'New incident, resolved since: INC-2026-1',
    );
    expect(
      foldedMessage([created(1)], since({ 'id-1': { deleted_at: new Date(0) } })).words.headline,
    ).toBe('New incident, deleted since: INC-2026-1');
    const { words } = foldedMessage([created(1), created(2, 'low')], resolved);
    expect(words.headline).toBe('2 new incidents from edr, 1 resolved since: INC-2026-2');
    expect(Object.entries(words.facts)[1]).toEqual(['INC-2026-1', 'high, resolved: Beacon 1']);
  });

  it('counts the incidents that were judged malicious', () => {
    const triaged = (n: number, severity: string) =>
      messageAbout('incident.triaged', {
        subject_id: `id-${n}`,
        incident_number: `INC-2026-${n}`,
        payload: {
          title: `Beacon ${n}`,
          incident_type: 'malware',
          severity,
          source: 'edr',
          recommended_actions: [],
        },
      });
    const { words } = foldedMessage([triaged(1, 'low'), triaged(2, 'medium')], nothingNew);
    expect(words.headline).toBe('2 incidents judged malicious from edr: INC-2026-2');
    expect(Object.entries(words.facts).at(-1)).toEqual(['INC-2026-1', 'low: Beacon 1']);
  });

  it('lists the approvals of a playbook by incident, the most severe incident first', () => {
    const carrier = approval(1);
    const of2 = { severity: 'high', expires_at: '2026-11-02T09:30:00.000Z' };
    const all = [
      approval(2, of2),
      messageAbout('action.pending_approval', {
        subject_id: 'act-3',
        incident_id: 'id-2',
        incident_number: 'INC-2026-2',
        payload: {
          action_type: 'revoke_sessions',
          target: 'j.weber',
          requested_by: 'playbook:malware-containment',
          approval_level: 'analyst',
          incident_title: 'Beacon 2',
          severity: 'high',
        },
      }),
    ];
    const present = waiting('act-1', 'act-2', 'act-3');
    expect(foldedMessage([carrier], present)).toEqual(carrier);
    const { words, event, severity } = foldedMessage([carrier, ...all], present);
    expect([event.id, severity]).toEqual([carrier.event.id, 'high']);
    expect(words).toEqual({
      headline: '3 approvals needed for malware-containment: 2 isolate_host, 1 revoke_sessions',
      facts: {
        'INC-2026-2': 'isolate_host WS-2, revoke_sessions j.weber - high: Beacon 2',
        'INC-2026-1': 'isolate_host WS-1 - medium: Beacon 1',
      },
      request:
        'Each waits for a person of level senior or analyst or higher, the first until 2026-11-02T09:30:00.000Z.',
      url: 'https://triage.example.com/docs?action=act-2',
    });
  });

  it('shows the expected effect that the connector reported for an approval', () => {
    const effect = 'Deletes 3 mails in anna@example.com.';
    const present: PresentState = {
      ...nothingNew,
      waiting: new Map([
        ['act-1', effect],
        ['act-2', undefined],
      ]),
    };
    const [one, other] = [approval(1), approval(2)];
    const [first] = Object.entries(foldedMessage([one], present).words.facts);
    expect(first).toEqual(['Effect', effect]);
    expect(foldedMessage([one, other], present).words.facts).toEqual({
      'INC-2026-1': `isolate_host WS-1 (${effect}) - medium: Beacon 1`,
      'INC-2026-2': 'isolate_host WS-2 - medium: Beacon 2',
    });
  });

  it('omits approvals that were decided while the message waited', () => {
    const all = [approval(1), approval(2), approval(3)] as const;
    const { words } = foldedMessage([...all], waiting('act-2', 'act-3'));
    expect(words.headline).toBe('2 approvals needed for malware-containment: 2 isolate_host');
    const { words: one } = foldedMessage([...all], waiting('act-3'));
    expect(one.headline).toBe('Approval needed: isolate_host for INC-2026-3');
  });

  it('lists eight incidents, and counts the remaining incidents', () => {
    const all = Array.from({ length: 39 }, (_, n) => created(n));
    const { facts } = foldedMessage([created(39), ...all], nothingNew).words;
    expect(Object.keys(facts)).toHaveLength(9);
    expect(facts).toMatchObject({ More: '32 in the list of incidents' });
  });
});
