import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import type { Role } from '../../src/platform/access/roles.js';
import { eventually } from '../support/jobs/eventually.js';
import { makeKey, makeUser } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const PASSWORD = 'correct horse battery staple';
const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** Plays an analyst's shift in the browser: log in by keyboard, read, request, decide, navigate, log out. */
describe('Swagger UI in a browser', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    app = await startTestApp({
      settings: { BOOTSTRAP_ADMIN_PASSWORD: PASSWORD, TRIAGE_PROVIDER: 'rules' },
    });
    const sandbox = { name: 'sandbox', type: 'sandbox', config: {} };
    const { client } = await makeKey(app, 'admin');
    await client.request('POST', '/api/connectors', { body: sandbox });
    browser = await chromium.launch({
      executablePath: CHROMIUM,
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--disable-background-networking',
        '--disable-sync',
      ],
    });
    page = await browser.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
  });

  afterAll(async () => {
    await browser?.close();
    await app?.close();
  });

  const blockOf = async (tag: string, id: string) => {
    const block = page.locator(`#operations-${tag}-${id}`);
    if (!(await block.getByRole('button', { name: 'Execute' }).isVisible())) {
      await block.locator('.opblock-summary-control').click();
    }
    await block.getByRole('button', { name: 'Execute' }).waitFor();
    return block;
  };

  const execute = async (block: Locator) => {
    const clear = block.getByRole('button', { name: 'Clear' });
    // Without this wait, the test would read the previous response.
    if (await clear.isVisible()) await clear.click();
    await block.getByRole('button', { name: 'Execute' }).click();
    const answers = block.locator('.live-responses-table');
    const body = answers.locator('.response-col_description pre').first();
    await body.waitFor();
    const status = answers.locator('.response .response-col_status').first();
    return { status: await status.innerText(), body: await body.innerText() };
  };

  const executed = async (tag: string, id: string) => execute(await blockOf(tag, id));

  /** Creates an action that waits for approval, because an analyst may not isolate a host. */
  const pendingAction = async (host_id: string): Promise<string> => {
    const { client } = await makeKey(app, 'analyst');
    const { body } = await client.request('POST', '/api/actions/execute', {
      body: { action: 'isolate_host', parameters: { host_id, reason: '<i>Beaconing</i>' } },
    });
    expect(body.data.status).toBe('pending_approval');
    return body.data.action_id as string;
  };

  it('redirects a visitor to the login page, and after a login by keyboard to the documentation', async () => {
    await page.goto(`${app.url}/docs`);
    expect(new URL(page.url()).pathname).toBe('/login');
    expect(await page.title()).toContain('Incident Triage Service');
    await page.getByText('Ask an admin of this service').waitFor();
    await page.getByLabel(/user/i).focus();
    await page.keyboard.type('admin');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs');
    await page.getByText('You are logged in as admin, role admin').waitFor();
    await page.locator('.opblock').first().waitFor();
    await page.getByText('Nothing waits for you.').waitFor();
  });

  it('loads few bytes at first, and large files compressed', async () => {
    const sizes = await page.evaluate(() =>
      performance.getEntriesByType('resource').map((entry) => {
        const size = 'transferSize' in entry ? Number(entry.transferSize) : 0;
        return [new URL(entry.name).pathname, size] as const;
      }),
    );
    expect(sizes.filter(([path]) => path.startsWith('/docs/')).length).toBeGreaterThan(6);
    expect(sizes.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(700_000);
    expect(sizes.filter(([path]) => path.startsWith('/openapi'))).toHaveLength(1);
  });

  it('shows the first tasks of an analyst at the top, and neither models nor keys', async () => {
    const tags = await page.locator('.opblock-tag').evaluateAll((all) => all.map((tag) => tag.id));
    expect(tags.slice(0, 6).map((id) => id.replace('operations-tag-', ''))).toEqual([
      ...['Incidents', 'Triage', 'Actions', 'Approvals', 'Playbooks', 'Kill_switch'],
    ]);
    expect(await page.locator('.models.is-open, .model-container').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Authorize' }).isVisible()).toBe(false);
    await page.getByText('Use an API key instead of your session').click();
    expect(await page.getByRole('button', { name: 'Authorize' }).isVisible()).toBe(true);
  });

  it.each([
    ['Actions', 'listActions'],
    ['Audit', 'listAudit'],
    ['Incidents', 'listIncidents'],
    ['Webhooks', 'listWebhookEvents'],
    ['Playbooks', 'listPlaybooks'],
  ])('leaves the filters of %s %s empty until the user chooses a value', async (tag, id) => {
    const block = await blockOf(tag, id);
    const filters = block.locator('tr[data-param-in="query"]:not([data-param-name*="page"]) input');
    const values = await filters.evaluateAll((all) =>
      all.map((box) => 'value' in box && box.value),
    );
    expect(values.filter((value) => value !== '')).toEqual([]);
    const { status } = await execute(block);
    expect(status).toContain('200');
  });

  it('does not turn the kill switch on without a reason that the user types', async () => {
    const { status, body } = await executed('Kill_switch', 'activateKillSwitch');
    expect(status).toContain('422');
    expect(body).toContain('"field": "reason"');
    const { client } = await makeKey(app, 'viewer');
    const state = await client.request('GET', '/api/kill-switch');
    expect(state.body.data.active).toBe(false);
  });

  it('does not change an incident if the user only clicks, and changes it without If-Match', async () => {
    const { client } = await makeKey(app, 'analyst');
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: { incident_type: 'phishing', source: 'test', title: 'Mine', severity: 'low' },
    });
    const block = await blockOf('Incidents', 'updateIncident');
    await block.locator('tr[data-param-name="id"] input').fill(made.data.id as string);
    await expect(block.locator('.body-param__text').inputValue()).resolves.toBe('{}');
    await execute(block);
    const { body: kept } = await client.request('GET', `/api/incidents/${made.data.id as string}`);
    expect(kept.data).toMatchObject({ title: 'Mine', severity: 'low' });
    // This change has no If-Match.
    await block.locator('.body-param__text').fill('{"title": "Ours"}');
    const { status, body } = await execute(block);
    expect(status).toContain('200');
    expect(body).toContain('"title": "Ours"');
  });

  it('triages an incident of a new service with the prefilled values', async () => {
    const { client } = await makeKey(app, 'analyst');
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: { incident_type: 'phishing', source: 'test' },
    });
    const block = await blockOf('Triage', 'triageIncident');
    await block.locator('tr[data-param-name="id"] input').fill(made.data.id as string);
    const { status, body } = await execute(block);
    expect(status).toContain('200');
    expect(body).toContain('"verdict"');
  });

  it('previews a shipped playbook and creates a playbook with the prefilled values', async () => {
    const dry = await executed('Playbooks', 'runPlaybook');
    expect(dry.status).toContain('200');
    expect(dry.body).toContain('"dry_run": true');
    expect((await executed('Playbooks', 'createPlaybook')).status).toContain('201');
    expect((await executed('Playbooks', 'listPlaybooks')).body).toContain('"suspicious-login"');
  });

  it('lists waiting approvals, links to the decision, and removes decided approvals', async () => {
    const id = await pendingAction('ws-042');
    await page.getByRole('button', { name: 'Read again' }).click();
    const line = page.locator('#approvals li', { hasText: 'ws-042' });
    expect(await line.innerText()).toMatch(/isolate_host.*needs: senior/s);
    await line.getByRole('link', { name: 'Approve' }).click();
    const block = await blockOf('Approvals', 'approveAction');
    const box = block.locator('tr[data-param-name="id"] input');
    await expect(box.inputValue()).resolves.toBe(id);
    const { status, body } = await execute(block);
    expect(status).toContain('200');
    expect(body).toContain('"completed"');
    await line.waitFor({ state: 'detached' });
  });

  it('opens the next decision without the response and comment of the previous decision', async () => {
    const last = await blockOf('Approvals', 'approveAction');
    expect(await last.locator('.live-responses-table').count()).toBe(1);
    await last.locator('.body-param__text').fill('{"comment": "Seen by me"}');
    await pendingAction('ws-043');
    const id = await pendingAction('ws-044');
    await page.getByRole('button', { name: 'Read again' }).click();
    await page.getByRole('searchbox').fill('health');
    const line = page.locator('#approvals li', { hasText: 'ws-044' });
    await line.getByRole('link', { name: 'Approve' }).click();
    const block = await blockOf('Approvals', 'approveAction');
    const box = block.locator('tr[data-param-name="id"] input');
    await expect(box.inputValue()).resolves.toBe(id);
    expect(await page.getByRole('searchbox').inputValue()).toBe('');
    expect(await block.locator('.live-responses-table, .curl-command').count()).toBe(0);
    const comment = JSON.parse(await block.locator('.body-param__text').inputValue()) as unknown;
    expect(comment).toEqual({ comment: '' });
  });

  it('shows waiting approvals so that no title or value looks like a fact or hides a fact', async () => {
    const { client } = await makeKey(app, 'analyst');
    const forged = 'Test" · host_id SANDBOX-1 · requested by alice · needs analyst';
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: { incident_type: 'other', source: 'test', title: forged },
    });
    const message_id = `<${'m'.repeat(200)}@example.com>`;
    const parameters = { recipient: `${'r'.repeat(200)}\u202eneeds analyst`, message_id };
    const asked = await client.request('POST', `/api/incidents/${made.data.id}/actions`, {
      body: { action: 'delete_email', parameters },
    });
    expect(asked.status).toBe(202);
    await page.getByRole('button', { name: 'Read again' }).click();
    const line = page.locator('#approvals li', { hasText: 'SANDBOX-1' });
    await line.waitFor();
    const values = await line.locator('bdi').allInnerTexts();
    expect(values.slice(0, 2)).toEqual([expect.stringMatching(/^key:/), 'senior']);
    const recipient = `${'r'.repeat(200)}⟦U+202E⟧needs analyst`;
    expect(values).toEqual(expect.arrayContaining([message_id, recipient]));
    expect(values.at(-1)).toBe(forged);
    // Each value has its own line and its own border.
    expect(await line.locator('> div > div').count()).toBe(values.length);
    expect(await line.locator('bdi bdi').count()).toBe(0);
  });

  it('finds operations by path, title, tag, description, example and usual words of analysts', async () => {
    for (const [words, id] of [
      ['KILL switch', 'activateKillSwitch'],
      ['JOBS/dead', 'listDeadJobs'],
      ['audit TAMPERED', 'verifyAudit'],
      ['RESOLVE it', 'updateIncident'],
      ['sealed YET', 'exportAudit'],
      ['close', 'updateIncident'],
      ['reopen', 'updateIncident'],
      ['false positive', 'updateIncident'],
      ['isolate', 'executeIncidentAction'],
      ['indicator', 'getIncident'],
      ['wave', 'listIncidents'],
    ]) {
      await page.getByRole('searchbox').fill(words!);
      await page.locator('#operations-Access-getMe').waitFor({ state: 'detached' });
      expect([words, await page.locator(`[id$="-${id}"]`).count()]).toEqual([words, 1]);
      await page.getByRole('searchbox').fill('');
      await page.locator('#operations-Access-getMe').waitFor();
    }
  });

  it('reports a search without results', async () => {
    await page.getByRole('searchbox').fill('zebra crossing');
    await page.getByText('Nothing here is about “zebra crossing”.').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.locator('#operations-Access-getMe').waitFor();
  });

  /** Opens the page in the browser of another user. */
  const pageOf = async (role: Role, address = '/login?next=/docs') => {
    const { name, password } = await makeUser(app, role);
    const context = await browser.newContext();
    const other = await context.newPage();
    await other.goto(`${app.url}${address}`);
    await other.getByLabel(/user/i).fill(name);
    await other.getByLabel('Password').fill(password);
    await other.keyboard.press('Enter');
    await other.getByText(`You are logged in as ${name}, role ${role}`).waitFor();
    return { context, other };
  };

  it('shows the approvals that the user may decide, oldest first, with severity and reason', async () => {
    const { client } = await makeKey(app, 'analyst');
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: { incident_type: 'other', source: 'test', severity: 'high', title: 'A title' },
    });
    const ask = async (action: string, parameters: object) =>
      client.request('POST', `/api/incidents/${made.data.id}/actions`, {
        body: { action, parameters },
      });
    await ask('block_ip', { ip: '203.0.113.7', reason: 'It "scans" us.' });
    await ask('isolate_host', { host_id: 'ws-099' });
    await ask('block_ip', { ip: '203.0.113.8' });

    const { context, other } = await pageOf('analyst');
    const lines = other.locator('#approvals li');
    await lines.nth(1).waitFor();
    const texts = (await lines.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    expect(texts).toEqual([
      expect.stringMatching(
        /^block_ip .* severity: high .* ip: 203\.0\.113\.7 reason: It "scans" us\./,
      ),
      expect.stringContaining('203.0.113.8'),
    ]);
    await context.close();

    const viewers = await pageOf('viewer');
    await viewers.other.locator('.opblock').first().waitFor();
    expect(await viewers.other.locator('#approvals').isVisible()).toBe(false);
    await viewers.context.close();
  });

  it('opens the decision and its incident from a link in a message, through the login', async () => {
    const action = await pendingAction('ws-100');
    const { client } = await makeKey(app, 'analyst');
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: { incident_type: 'other', source: 'test', title: 'Linked' },
    });
    const { context, other } = await pageOf('senior', `/docs?action=${action}`);
    const line = other.locator('#approvals li[aria-current]');
    await line.waitFor();
    expect(await line.innerText()).toContain('ws-100');
    expect(
      await line.getByRole('link', { name: 'Approve' }).evaluate((link) => link.matches(':focus')),
    ).toBe(true);

    await other.goto(`${app.url}/docs?incident=${made.data.id}`);
    const block = other.locator('#operations-Incidents-getIncident');
    await block.locator('.live-responses-table').getByText('"title": "Linked"').waitFor();

    await client.request('GET', '/api/actions');
    const { client: senior } = await makeKey(app, 'senior');
    await senior.request('POST', `/api/actions/${action}/reject`, { body: { reason: 'No.' } });
    await other.goto(`${app.url}/docs?action=${action}`);
    const shown = other.locator('#operations-Actions-getAction');
    await shown.locator('.live-responses-table').getByText('"rejected"').waitFor();
    await context.close();
  });

  it('redirects to the login after the session has ended, and back', async () => {
    const { context, other } = await pageOf('senior');
    await other.locator('#approvals li').first().waitFor();
    await context.clearCookies();
    await other.getByRole('button', { name: 'Read again' }).click();
    await other.locator('#approvals').getByText('Your session has ended.').waitFor();
    await other.locator('#approvals').getByRole('link', { name: 'Log in again' }).click();
    await other.waitForURL('**/login?next=/docs');
    await context.close();
  });

  it('marks operations that the role of the user may not call', async () => {
    const { context, other } = await pageOf('analyst');
    await other.getByText('Delete an incident (needs the role admin)').waitFor();
    expect(await other.getByText('Create an incident (needs').count()).toBe(0);
    await context.close();
  });

  it('sorts by the fields that the user types', async () => {
    const block = await blockOf('Incidents', 'listIncidents');
    await block.locator('tr[data-param-name="sort"] input').fill('-severity,created_at');
    expect((await execute(block)).status).toContain('200');
    const sent = await block.locator('.request-url pre').innerText();
    expect(decodeURIComponent(sent)).toContain('sort=-severity,created_at');
  });

  it('scrolls to the incident that a link in a message names', async () => {
    const { client } = await makeKey(app, 'analyst');
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: { incident_type: 'other', source: 'test', title: 'In sight' },
    });
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${app.url}/docs?incident=${made.data.id}`);
    const answer = page.locator('#operations-Incidents-getIncident .live-responses-table');
    await answer.getByText('"title": "In sight"').waitFor();
    await expect(
      eventually(
        async () => (await answer.boundingBox())!.y,
        (top) => Math.abs(top) < 100,
      ),
    ).resolves.toBeLessThan(100);
  });

  it.each([
    ['incident', 390],
    ['action', 390],
  ])('fits the width of a phone: %s at %d px', async (kind, width) => {
    const { client } = await makeKey(app, 'analyst');
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: {
        incident_type: 'malware',
        source: 'test',
        title: 'A'.repeat(180),
        raw_data: {
          command: 'powershell '.repeat(60),
          url: `https://x.example/${'y'.repeat(300)}`,
        },
      },
    });
    const action = await client.request('POST', '/api/actions/execute', {
      body: { action: 'lookup_domain', parameters: { domain: `${'d'.repeat(60)}.example` } },
    });
    const id: string = kind === 'incident' ? made.data.id : action.body.data.action_id;
    await page.setViewportSize({ width, height: 844 });
    await page.goto(`${app.url}/docs?${kind}=${id}`);
    await page.locator('.live-responses-table .response-col_description pre').first().waitFor();
    const pageWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
    await page.setViewportSize({ width: 1280, height: 720 });
    expect(pageWidth).toBe(width);
  });

  it('has dark colours if the user prefers a dark scheme', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(`${app.url}/docs`);
    const colour = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(colour).toBe('rgb(15, 23, 29)');
    await page.locator('html.dark-mode .opblock').first().waitFor();
    await page.emulateMedia({ colorScheme: 'light' });
    await page.locator('html:not(.dark-mode) .opblock').first().waitFor();
  });

  it('violates no rule of its content security policy', () => {
    // Chromium logs every error response, such as the 422 above.
    expect(complaints.filter((text) => !/status of 422/.test(text))).toEqual([]);
  });

  it('logs out, and then requires a login for the documentation', async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL('**/login**');
    await page.goto(`${app.url}/docs`);
    expect(new URL(page.url()).pathname).toBe('/login');
  });
});
