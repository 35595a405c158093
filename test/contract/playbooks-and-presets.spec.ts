import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IncidentFields } from '../../src/incidents/incident-fields.js';
import { SHIPPED_PLAYBOOKS } from '../../src/playbooks/shipped/shipped-playbooks.js';
import { presetNamed } from '../../src/webhooks/mapping/presets.js';
import { readEventJson } from '../../src/webhooks/reading/event-json.js';
import { isUnfit, readEvents } from '../../src/webhooks/reading/read-events.js';
import { decisionsOf } from '../support/playbooks/decisions-of.js';

const SAMPLES = 'test/fixtures/webhooks';

/** What each preset and format reads of the samples of its tool, and the type that the incident gets. */
function readSamples(): { sample: string; fields: IncidentFields; incidentType: string }[] {
  return readdirSync(SAMPLES, { recursive: true, encoding: 'utf8' })
    .filter((path) => /^(?:presets|formats)\/\w+\/[\w-]+\.json$/.test(path))
    .flatMap((sample) => {
      const [kind, name] = sample.split('/');
      const preset = kind === 'presets' ? presetNamed(name!) : undefined;
      const rules = {
        source: 'tool',
        autoTriage: true,
        format: preset ? ('mapping' as const) : ('auto' as const),
        mapping: preset?.mapping,
        incidentType: preset?.incidentType,
        severityMapping: preset?.severityMapping ?? {},
        typeMapping: preset?.typeMapping ?? {},
      };
      const read = readEvents(rules, readEventJson(readFileSync(join(SAMPLES, sample))));
      if (isUnfit(read)) throw new Error(`${sample}: ${read.why}`);
      return read.map(({ incident: { fields, incidentType } }) => ({
        sample,
        fields,
        incidentType,
      }));
    });
}

describe.each(SHIPPED_PLAYBOOKS)('the playbook $name', (playbook) => {
  it('has no step that fails to evaluate for any sample of any preset and format, whatever the verdict', () => {
    const samples = readSamples();
    expect(samples.length).toBeGreaterThan(60);
    for (const { sample, fields } of samples) {
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
      ({ fields, incidentType }) => fields['message_id'] && incidentType === 'phishing',
    );
    const phishing = SHIPPED_PLAYBOOKS.find(({ name }) => name === 'phishing-response')!;
    expect(mails.length).toBeGreaterThan(4);
    for (const { sample, fields } of mails) {
      const decisions = decisionsOf(phishing, fields, 'malicious');
      expect([sample, decisions['quarantine']]).toEqual([sample, 'run']);
    }
  });
});
