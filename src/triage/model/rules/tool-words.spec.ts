import { extractIndicators } from '../../../../test/support/triage/extract-indicators.js';
import type { TriageCase } from '../triage-model.port.js';
import { RulesModel } from './rules-model.js';

type RawData = Readonly<Record<string, unknown>>;

async function judge(rawData: RawData) {
  const indicators = extractIndicators(rawData);
  const given = { rawData, indicators, incident_type: 'other', title: 'x' } as unknown;
  const { verdict } = await new RulesModel().judge(given as TriageCase);
  return verdict;
}
const classOf = async (rawData: RawData) => (await judge(rawData)).classification;

describe('words of tools', () => {
  it('make unwanted software at most suspicious if the tool is not sure', async () => {
    const pua = { threatName: 'PUA.Bundler', confidenceLevel: 'suspicious', classification: 'PUA' };
    expect(await classOf({ threatInfo: pua })).toBe('suspicious');
    const named = { file: 'PUA.exe', threatName: 'Trojan.Generic', verdict: 'malicious' };
    expect(await classOf(named)).toBe('malicious');
  });

  it('do not turn an alert about a sign-in into a phishing mail', async () => {
    const alert = { title: 'Unusual sign in for ann', from: 'sensor', user: 'ann' };
    expect(await judge(alert)).toMatchObject({
      classification: 'inconclusive',
      category: 'unknown',
    });
  });

  it.each(['Phish', 'HighConfPhish'])(
    'classify a mail of the category %s as phishing',
    async (category) => {
      const alert = { eventType: 'Alert', category, data: { sender: 'a@one.test', subject: 'x' } };
      expect(await judge(alert)).toMatchObject({
        classification: 'malicious',
        category: 'phishing',
      });
    },
  );

  it('cause no look-up of the console of the tool or of names of the organisation', async () => {
    const { recommended_actions, reasoning } = await judge({
      link: 'https://console.vendor.test/alerts/1',
      source: 'https://tenant.vendor.test/api/v1/eventHooks/who1',
      '@odata.context': 'https://graph.vendor.test/v1.0/$metadata#alerts',
      evidence: [{ deviceDnsName: 'pc-1.corp.example', recipientEmailAddress: 'a@corp.example' }],
    });
    expect(JSON.stringify([recommended_actions, reasoning])).not.toMatch(/vendor|lookup|pc-1/);
  });

  it('cause no look-up of types, resources or documentation pages', async () => {
    const { indicators } = await judge({
      type: 'Microsoft.SecurityInsights/incidents',
      resource_id: '/subscriptions/1/providers/Microsoft.SecurityInsights/Incidents/2',
      provider: 'Microsoft.SecurityInsights',
      Remediation: { Recommendation: { Url: 'https://docs.example.com/S3.8' } },
      helpUrl: 'https://learn.example.com/x',
      urls: ['https://evil.test/x'],
    });
    expect(indicators.map(({ value }) => value)).toEqual(['https://evil.test/x', 'evil.test']);
  });

  it('make the EICAR test file benign because of its digest, but not because of its name', async () => {
    const sha256 = '275a021bbfb6489e54d471899f7db9d1663fc695ec2fe2a2c4538aabf651fd0f';
    expect(await classOf({ name: 'NGAV file', tactic: 'Malware', sha256 })).toBe('benign');
    expect(await classOf({ name: 'NGAV file', file: 'eicar.com' })).toBe('inconclusive');
    const other = { sha256: 'a'.repeat(64) };
    expect(await classOf({ files: [{ sha256 }, other] })).toBe('inconclusive');
  });

  it('make many failed sign-ins before a success malicious, and a few failed sign-ins inconclusive', async () => {
    const alert = 'Multiple failed sign-ins followed by success';
    expect(await classOf({ alert, failures: 4 })).toBe('inconclusive');
    expect(await classOf({ alert, failures: 400 })).toBe('malicious');
  });

  it('make many failed logins to many accounts malicious', async () => {
    expect(await classOf({ failures: 1002, distinct_users: 167 })).toBe('malicious');
  });
});
