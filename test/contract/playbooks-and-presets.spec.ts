import { SHIPPED_PLAYBOOKS } from '../../src/playbooks/playbooks.service.js';
import { decisionsOf } from '../support/playbooks/decisions-of.js';
import { readSamples } from '../support/webhooks/samples.js';

describe.each(SHIPPED_PLAYBOOKS)('the playbook $name', (playbook) => {
  it('can evaluate all steps for all samples of presets and formats, with any verdict', () => {
    const samples = readSamples();
    expect(samples.length).toBeGreaterThan(60);
    for (const {
      sample,
      incident: { fields = {} },
    } of samples) {
      for (const verdict of ['malicious', 'benign', undefined] as const) {
        const decisions = Object.entries(decisionsOf(playbook, fields, verdict));
        const failed = decisions.filter(([, decision]) => decision.startsWith('error'));
        expect([sample, failed]).toEqual([sample, []]);
      }
    }
  });
});

describe('the playbook phishing-response', () => {
  it('quarantines every mail of every preset that is judged malicious, by message id and recipient', () => {
    const mails = readSamples().filter(
      ({ incident }) => incident.fields?.['message_id'] && incident.incident_type === 'phishing',
    );
    const phishing = SHIPPED_PLAYBOOKS.find(({ name }) => name === 'phishing-response')!;
    expect(mails.length).toBeGreaterThan(4);
    for (const {
      sample,
      incident: { fields = {} },
    } of mails) {
      const decisions = decisionsOf(phishing, fields, 'malicious');
      expect([sample, decisions['quarantine']]).toEqual([sample, 'run']);
    }
  });
});
