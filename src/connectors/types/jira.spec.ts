import { JiraServer } from '../../../test/support/vendors/jira-server.js';
import { describeUsualTroubles } from '../../../test/support/vendors/usual-troubles.js';
import { callOf, useVendor } from '../../../test/support/vendors/vendor-site.js';
import { UnreachableError } from '../../platform/net/net.errors.js';
import type { ActionCall } from '../connector-type.js';
import { jira } from './jira.js';

describe('JiraConnector', () => {
  const server = new JiraServer();
  const site = useVendor(jira, server);
  const opening = (parameters: object = {}, more: Partial<ActionCall> = {}) =>
    callOf('create_ticket', { title: 'Phishing', ...parameters }, more);
  const open = (parameters: object = {}) => site.execute(opening(parameters));
  const paragraph = (...texts: string[]) => ({
    type: 'paragraph',
    content: texts.map((text) => ({ type: 'text', text })),
  });

  it('opens an issue with the id of the action', async () => {
    expect(await open({ description: 'First\n\nThird', priority: 'High' })).toEqual({
      kind: 'done',
      message: 'Jira opened SEC-1.',
      data: { id: '10001', key: 'SEC-1' },
    });
    expect(server.issues.map(({ fields }) => fields)).toEqual([
      {
        project: { key: 'SEC' },
        issuetype: { name: 'Task' },
        summary: 'Phishing',
        labels: ['act-1'],
        description: {
          type: 'doc',
          version: 1,
          content: [paragraph('First'), paragraph(), paragraph('Third')],
        },
        priority: { name: 'High' },
      },
    ]);
    expect(server.problems).toEqual([]);
  });

  it('opens issues of the configured type', async () => {
    site.connect({ issue_type: 'Incident' });
    await open();
    expect(server.issues[0]!.fields).toMatchObject({ issuetype: { name: 'Incident' } });
  });

  it.each([
    ['a link and a mention', '[x|https://evil.example] [~accountid:1] @ada {code}'],
    ['a document', '{"type":"doc","version":1,"content":[{"type":"mention"}]}'],
    ['a template and quotes', '{{ secrets.token }} "\' \\'],
  ])('writes %s as plain text', async (_, description) => {
    await open({ description });
    expect(server.issues[0]!.fields.description!.content).toEqual([paragraph(description)]);
  });

  it('writes one paragraph for each line, without control characters', async () => {
    await open({ description: 'a\tb\r\nc\rd\u2028e\u0000f\u001bg\ud800' });
    expect(server.issues[0]!.fields.description!.content).toEqual(
      ['a b', 'c', 'd', 'e\ufffdf g\ufffd'].map((text) => paragraph(text)),
    );
    expect(server.problems).toEqual([]);
  });

  it('makes one line of at most 255 characters from any title', async () => {
    await open({ title: 'Phish\r\ning\u2028 for "SEC"' });
    await open({ title: '🦊'.repeat(500) });
    const [first, second] = server.issues.map(({ fields }) => fields.summary);
    expect(first).toBe('Phish ing  for "SEC"');
    expect(second).toHaveLength(255);
    expect(second!.endsWith('…') && second!.isWellFormed()).toBe(true);
    expect(server.problems).toEqual([]);
  });

  it('names the field that Jira rejects', async () => {
    expect(await open({ priority: 'Mega' })).toEqual({
      kind: 'refused',
      message: 'Jira answered with status 400: priority: The priority selected is invalid.',
    });
  });

  it('finds an issue by its label if the answer to its creation was lost', async () => {
    server.play('drop-after');
    await expect(open()).rejects.toThrow();
    expect(await site.connector.probe!(opening())).toEqual({
      kind: 'done',
      message: 'Jira had opened SEC-1.',
      data: { id: '10001', key: 'SEC-1' },
    });
    expect(await site.connector.probe!(opening({}, { actionId: 'act-2' }))).toBe('unknown');
    server.isIndexed = false;
    expect(await site.connector.probe!(opening())).toBe('unknown');
    server.play(500);
    await expect(site.connector.probe!(opening())).rejects.toThrow(UnreachableError);
    expect(server.problems).toEqual([]);
  });

  it('in a connection test, checks login and project, explains failures, and never shows the token', async () => {
    expect(await site.connector.test()).toMatchObject({
      success: true,
      message: 'Jira shows the project SEC.',
    });
    expect(await site.connect({ project_key: 'NONE' }).test()).toMatchObject({
      success: false,
      message: "Jira answered with status 404: No project could be found with key 'NONE'.",
    });
    const login = Buffer.from(`${server.email}:${server.token}`).toString('base64');
    const body = { errorMessages: [`${server.token} or ${login}`], errors: {} };
    server.play({ status: 403, body });
    expect(await site.connector.test()).toMatchObject({
      success: false,
      message: 'Jira answered with status 403: [secret] or [secret].',
    });
    expect(await site.connect({ api_token: 'wrong' }).test()).toMatchObject({ success: false });
  });

  describeUsualTroubles('change', () => ({
    ...site,
    call: opening(),
    effects: () => server.issues.length,
  }));
});
