import { changed } from './incident-changes.js';
import { eventsOfChange, timelineOfChange } from './change-records.js';
import type { Incident } from './incident.js';

const before: Incident = {
  id: '0193f2b6-7c1e-7a0b-9f4e-2f0a7b6c5d4e',
  incidentNumber: 'INC-2026-0042',
  incidentType: 'phishing',
  severity: 'medium',
  status: 'open',
  source: 'gateway',
  createdAt: new Date(1000),
  updatedAt: new Date(1000),
  rawData: '{}',
  verdictByPerson: false,
  recommendedActions: [],
  version: 1,
};
const at = new Date(2000);
const person = { by: 'alice', at, byPerson: true };
const run = { by: 'system', at, byPerson: false };

describe('changed', () => {
  it('should keep what is left out, and count the version', () => {
    expect(changed(before, { severity: 'high' }, person)).toEqual({
      ...before,
      severity: 'high',
      version: 2,
      updatedAt: at,
    });
  });

  it('should triage an open incident when a verdict is given, and leave another status alone', () => {
    const verdict = { classification: 'malicious' } as const;
    expect(changed(before, { verdict }, person)).toMatchObject({
      status: 'triaged',
      triagedAt: at,
      verdict: { ...verdict, decided_by: 'alice' },
      verdictByPerson: true,
    });
    expect(changed({ ...before, status: 'resolved' }, { verdict }, run)).toMatchObject({
      status: 'resolved',
      verdict: { decided_by: 'system' },
      verdictByPerson: false,
    });
    expect(changed(before, { verdict, status: 'open' }, person).status).toBe('open');
  });

  it('should make a verdict the own of whoever confirms it by the status', () => {
    const triaged = changed(before, { verdict: { classification: 'benign', model: 'rules' } }, run);
    expect(changed(triaged, { status: 'triaged' }, person)).toMatchObject({
      verdict: { classification: 'benign', model: 'rules', decided_by: 'alice' },
      verdictByPerson: true,
    });
    expect(changed(before, { status: 'triaged' }, person)).not.toHaveProperty('verdict');
  });

  it('should never set the time of a change back', () => {
    const later = { ...before, updatedAt: new Date(9000) };
    expect(changed(later, { severity: 'low' }, person).updatedAt).toEqual(new Date(9000));
  });
});

describe('what a change is called', () => {
  const told = (from: Incident, to: Incident) => ({
    events: eventsOfChange(from, to).map(({ type }) => type),
    timeline: timelineOfChange(from, to, 'alice').map(({ event }) => event),
  });

  it('should tell triage and resolution by their names, and each thing once', () => {
    const verdict = { classification: 'malicious' } as const;
    const triaged = changed(before, { verdict }, person);
    expect(told(before, triaged)).toEqual({
      events: ['incident.updated', 'incident.triaged'],
      timeline: ['triaged'],
    });
    const resolved = changed(triaged, { status: 'resolved', resolution: 'Done.' }, person);
    expect(told(triaged, resolved)).toEqual({
      events: ['incident.updated', 'incident.resolved'],
      timeline: ['resolved'],
    });
    const both = changed(before, { verdict, status: 'resolved', severity: 'low' }, person);
    expect(told(before, both)).toEqual({
      events: ['incident.updated', 'incident.triaged', 'incident.resolved'],
      timeline: ['triaged', 'resolved', 'updated'],
    });
  });

  it('should be nothing in the timeline when nothing differs', () => {
    const same = { severity: 'medium', recommendedActions: [] } as const;
    expect(told(before, changed(before, same, person)).timeline).toEqual([]);
    const other = { recommendedActions: ['block_sender'] } as const;
    expect(told(before, changed(before, other, person)).timeline).toEqual(['updated']);
  });
});
