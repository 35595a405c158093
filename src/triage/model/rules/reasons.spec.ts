import { readSamples } from '../../../../test/support/webhooks/samples.js';
import { fieldsOfRawData, type IncidentFields } from '../../../incidents/incident-fields.js';
import { extractIndicators } from '../../../../test/support/triage/extract-indicators.js';
import type { TriageCase } from '../triage-model.port.js';
import { RulesModel } from './rules-model.js';

type RawData = Readonly<Record<string, unknown>>;
interface Given {
  readonly incident_type?: string;
  readonly severity?: string;
  readonly fields?: IncidentFields;
}

async function judge(rawData: RawData, given: Given = {}) {
  const fields = given.fields ?? fieldsOfRawData(rawData);
  const read = {
    incident_type: 'other',
    severity: 'medium',
    ...given,
    title: 'x',
    rawData,
    fields,
    indicators: extractIndicators(rawData, fields),
  } as unknown as TriageCase;
  const { verdict, points = [] } = await new RulesModel().judge(read);
  return { ...verdict, rules: points.map(({ rule }) => rule) };
}

const samples = readSamples().map(({ sample, incident }) => ({
  name: `${sample}: ${incident.title}`,
  fields: incident.fields ?? {},
  given: { incident_type: incident.incident_type, severity: incident.severity },
  rawData: JSON.parse(incident.raw_data) as RawData,
}));
const judged = (sample: (typeof samples)[number]) =>
  judge(sample.rawData, { ...sample.given, fields: sample.fields });
const sampleOf = (word: string) => samples.find(({ name }) => name.includes(word))!;

describe('the quoted severity', () => {
  it.each([
    ['high', { severity: 'medium', urgency: 'high' }, 'rates the event as high ("urgency: high")'],
    ['critical', { severity: 'high', priority: 'P1' }, 'as critical ("priority: P1")'],
    ['critical', { Severity: { Label: 'CRITICAL' } }, 'as critical ("label: CRITICAL")'],
    ['high', { severity: 8.9 }, 'as high ("severity: 8.9")'],
  ])('is %s if the tool says %j', async (severity, rawData, sentence) => {
    expect((await judge({ title: 'x', ...rawData }, { severity })).reasoning).toContain(sentence);
  });

  it('is the severity of the incident if the tool names no severity, and is then no evidence', async () => {
    const told = await judge({ title: 'Mimikatz', host: 'ws-1' }, { severity: 'high' });
    expect(told.reasoning).toContain('rates the event as high ("severity: high")');
    expect(told.evidence.map(({ pointer }) => pointer)).toEqual(['/title']);
  });

  it('omits the word of the tool if the word means another severity', async () => {
    const told = await judge({ title: 'x', severity: 'medium' }, { severity: 'critical' });
    expect(told.rules).toContain('tool_says_critical');
    expect(told.reasoning).not.toContain('medium');
  });
});

describe('a fact in favour of an event', () => {
  it('is neither a blocked program nor an entry that is missing from a list', async () => {
    const told = await judge(
      { alert: 'mimikatz', host_name: 'lap-7', action: 'BLOCKED', is_whitelisted: false },
      { incident_type: 'malware' },
    );
    expect(told.reasoning).not.toMatch(/refused|whitelisted/);
    expect(told.reasoning.match(/stopped/g)).toHaveLength(1);
    const request = { uri: '/?q=1%27 or 1=1', action: 'BLOCKED' };
    expect((await judge(request)).reasoning).toContain('The request was refused');
  });

  it('is not the mark that a gateway puts on mails from outside', async () => {
    const mail = { subject: 'hello', sender: 'a@one.test', taggedExternal: false };
    expect((await judge(mail)).reasoning).not.toContain('Nothing was sent');
    const marked = await judge({ ...mail, taggedMalicious: true });
    expect(marked).toMatchObject({ classification: 'malicious' });
    expect(marked.reasoning).toContain('marks it as malicious ("taggedmalicious: true")');
  });
});

describe('the reasoning of a verdict', () => {
  it('names each fact once', async () => {
    const { reasoning } = await judge({
      subject: 'x',
      sender: 'a@one.test',
      threatsInfoMap: [{ classification: 'MALWARE' }],
    });
    expect(reasoning.match(/classification: MALWARE/g)).toHaveLength(1);
  });

  it('names the page behind a link only if the event has a link', async () => {
    const vpn = { alert: { title: 'login to VPN from abroad' }, user: 'anna' };
    const told = await judge(vpn, { incident_type: 'suspicious_login' });
    expect(told.reasoning).not.toMatch(/page|phishing/);
    const page = { link_clicked: 'https://login.test/x', page_title: 'Enter your password' };
    expect((await judge(page)).rules).toContain('page_asks_secrets');
  });

  it('does not name malware if the event has no machine', async () => {
    const stolen = { type: 'CredentialAccess:IAMUser/AnomalousBehavior', api: 'ListBuckets' };
    const told = await judge(
      { ...stolen, message: 'secretsdump', user: 'deploy-role' },
      { incident_type: 'account_takeover' },
    );
    expect(told).toMatchObject({ classification: 'malicious', category: 'account_takeover' });
    expect(told.reasoning).not.toContain('malware');
  });

  it.each(samples)(
    'does not quote the link of a sample to the console of its tool: $name',
    async (sample) => {
      const { link, url } = sample.fields;
      const hostOf = (text: string | undefined) =>
        text !== undefined && URL.canParse(text) ? new URL(text).hostname : undefined;
      const host = hostOf(link);
      if (host === undefined || host === hostOf(url)) return;
      const { reasoning } = await judged(sample);
      expect(reasoning).not.toContain(host.replaceAll('.', '[.]'));
    },
  );
});

describe('the open questions of an event', () => {
  it.each(samples)('do not suggest looking up the tool itself: $name', async (sample) => {
    const { reasoning } = await judged(sample);
    expect(reasoning).not.toMatch(
      /lookup_\w+ of (?:\S*(?:pagerduty|azure|operationalinsights|keyvault|g\[\.\]ito)|d3640fbd4109)/,
    );
    expect(reasoning).not.toContain('no address, link, digest or machine');
  });

  it('name the person to ask if there is nothing to look up', async () => {
    const { reasoning } = await judge(
      { alert: 'x', host: 'db-1' },
      { incident_type: 'brute_force', fields: { host: 'db-1' } },
    );
    expect(reasoning).toContain('ask the owner of db-1, or for the raw event');
  });

  it('do not ask for a machine or digest if a weakness is in code', async () => {
    const { reasoning } = await judged(sampleOf('github/dependabot'));
    expect(reasoning).not.toMatch(/machine|digest|command line/);
    expect(reasoning).toContain('ask the owner of example-repo');
  });
});

describe('an alarming word of a tool', () => {
  it.each([
    ['Ransomware behavior detected', 'high', 'ransomware'],
    ['Ransomware activity', 'critical', 'ransomware'],
    ['Credential dumping on a domain controller', 'critical', 'malware'],
  ])('makes an event malicious: %s, %s', async (title, severity, category) => {
    const told = await judge({ title, severity, host: 'srv-1' }, { severity });
    expect(told).toMatchObject({ classification: 'malicious', category });
  });

  it.each(['Root account takeover', 'Compromised user account'])(
    'makes an event only suspicious if no other fact supports the word: %s',
    async (title) => {
      const told = await judge({ title, severity: 'critical' }, { severity: 'critical' });
      expect(told.classification).toBe('suspicious');
    },
  );

  it.each([
    'Ransomware simulation finished',
    'Report on ransomware',
    'Ransomware awareness training',
  ])('does not count in an announcement: %s', async (title) => {
    const told = await judge({ title, severity: 'high' }, { severity: 'high' });
    expect(told.rules).not.toContain('rated_ransomware');
  });

  it('makes a login from two countries within an hour suspicious', async () => {
    const title = 'Login from two countries within an hour';
    const told = await judge(
      { title, severity: 'high', user: 'alice' },
      { severity: 'high', incident_type: 'suspicious_login' },
    );
    expect(told).toMatchObject({ classification: 'suspicious', category: 'impossible_travel' });
  });
});
