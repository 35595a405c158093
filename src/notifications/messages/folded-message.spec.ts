import { messageAbout } from '../../../test/support/notifications/mean-message.js';
import { newId } from '../../platform/ids.js';
import { foldedMessage } from './folded-message.js';

const created = (n: number, severity = 'high') =>
  messageAbout('incident.created', {
    eventId: newId(),
    occurredAt: new Date(1_795_000_000_000 + n * 1_000),
    subject: { type: 'incident', id: `id-${n}` },
    incidentNumber: `INC-2026-${n}`,
    payload: { title: `Beacon ${n}`, incident_type: 'malware', severity, source: 'edr' },
  });

describe('a message about several incidents', () => {
  it('is the message about one, with the size of the wave that it is in', () => {
    const one = created(1);
    expect(foldedMessage([one], 1)).toEqual(one);
    expect(foldedMessage([one], 12).words.facts.at(-1)).toEqual({
      name: 'Alike',
      value: '12 new incidents in 10 minutes',
    });
  });

  it('tells how many they are and the most severe one, which it links to', () => {
    const [carrier, ...more] = [created(1), created(2, 'medium'), created(3), created(4, 'low')];
    const { words, ...message } = foldedMessage([carrier, ...more], 4);
    expect(message).toMatchObject({ eventId: carrier.eventId, severity: 'high' });
    expect(words).toEqual({
      headline: '4 new incidents from edr: INC-2026-3',
      about: 'Beacon 3',
      facts: [
        { name: 'INC-2026-3', value: 'high: Beacon 3' },
        { name: 'INC-2026-1', value: 'high: Beacon 1' },
        { name: 'INC-2026-2', value: 'medium: Beacon 2' },
        { name: 'INC-2026-4', value: 'low: Beacon 4' },
        { name: 'Alike', value: '4 new incidents in 10 minutes' },
      ],
      url: 'https://triage.example.com/docs?incident=id-3',
    });
  });

  it('tells of the approvals that one playbook asks for, for the most severe incident first', () => {
    const wanted = (n: number, severity: string) =>
      messageAbout('action.pending_approval', {
        eventId: newId(),
        occurredAt: new Date(1_795_000_000_000 + n * 1_000),
        subject: { type: 'action', id: `act-${n}` },
        incidentId: `id-${n}`,
        incidentNumber: `INC-2026-${n}`,
        payload: {
          action_type: 'isolate_host',
          target: `WS-${n}`,
          requested_by: 'playbook:malware-containment',
          approval_level: 'senior',
          incident_title: `Beacon ${n}`,
          severity,
        },
      });
    const carrier = wanted(1, 'medium');
    expect(foldedMessage([carrier], 1)).toEqual(carrier);
    const { words, ...message } = foldedMessage([carrier, wanted(2, 'high')], 2);
    expect(message).toMatchObject({ eventId: carrier.eventId, severity: 'high' });
    expect(words).toEqual({
      headline: '2 approvals needed: isolate_host for playbook:malware-containment',
      about: 'Beacon 2',
      facts: [
        { name: 'INC-2026-2', value: 'WS-2' },
        { name: 'INC-2026-1', value: 'WS-1' },
      ],
      request: 'It waits for approval at level senior or higher.',
      url: 'https://triage.example.com/docs?action=act-2',
    });
  });

  it('lists eight, and counts the rest', () => {
    const all = Array.from({ length: 39 }, (_, n) => created(n));
    const { facts } = foldedMessage([created(39), ...all], 40).words;
    expect(facts).toHaveLength(10);
    expect(facts.slice(8)).toEqual([
      { name: 'More', value: '32 in the list of incidents' },
      { name: 'Alike', value: '40 new incidents in 10 minutes' },
    ]);
  });
});
