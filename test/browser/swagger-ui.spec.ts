import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { makeKey } from '../support/principals.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

const PASSWORD = 'correct horse battery staple';
const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** An analyst's way through the browser: log in by keyboard, try a request, read the answer, log out. */
describe('Swagger UI in a browser', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    app = await startTestApp({
      settings: { BOOTSTRAP_ADMIN_PASSWORD: PASSWORD, TRIAGE_PROVIDER: 'rules' },
    });
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

  const answerOf = async (operation: Locator) => {
    const answers = operation.locator('.live-responses-table');
    const body = answers.locator('.response-col_description pre').first();
    await body.waitFor();
    const status = answers.locator('.response .response-col_status').first();
    return { status: await status.innerText(), body: await body.innerText() };
  };

  it('leads a stranger to the login page and, logged in by keyboard alone, to the documentation', async () => {
    await page.goto(`${app.url}/docs`);
    expect(new URL(page.url()).pathname).toBe('/login');
    expect(await page.title()).not.toBe('');
    await page.getByLabel(/user/i).focus();
    await page.keyboard.type('admin');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs');
    await page.getByText('Signed in as').waitFor();
    await page.locator('.opblock').first().waitFor();
  });

  it('sends a request with the session and shows its answer', async () => {
    const operation = page.locator('#operations-Access-getMe');
    await operation.locator('.opblock-summary').click();
    await operation.getByRole('button', { name: 'Execute' }).click();
    const { status, body } = await answerOf(operation);
    expect(status).toContain('200');
    expect(body).toContain('"name": "admin"');
  });

  it('triages with what it fills in, given an incident on a fresh service', async () => {
    const { client } = await makeKey(app, 'analyst');
    const { body: made } = await client.request('POST', '/api/incidents', {
      body: { incident_type: 'phishing', source: 'test' },
    });
    const operation = page.locator('#operations-Triage-triageIncident');
    await operation.locator('.opblock-summary').click();
    await operation.locator('tr[data-param-name="id"] input').fill(made.data.id as string);
    await operation.getByRole('button', { name: 'Execute' }).click();
    const { status, body } = await answerOf(operation);
    expect(status).toContain('200');
    expect(body).toContain('"verdict"');
  });

  it('tells what a shipped playbook would do, and makes a new one, with what it fills in', async () => {
    const executed = async (id: string) => {
      const operation = page.locator(`#operations-Playbooks-${id}`);
      await operation.locator('.opblock-summary').click();
      await operation.getByRole('button', { name: 'Execute' }).click();
      return await answerOf(operation);
    };
    const dry = await executed('runPlaybook');
    expect(dry.status).toContain('200');
    expect(dry.body).toContain('"dry_run": true');
    expect((await executed('createPlaybook')).status).toContain('201');
    expect((await executed('listPlaybooks')).body).toContain('"suspicious-login"');
  });

  it('breaks no rule of its content security policy', () => {
    expect(complaints).toEqual([]);
  });

  it('logs out, after which the documentation is closed', async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.waitForURL('**/login**');
    await page.goto(`${app.url}/docs`);
    expect(new URL(page.url()).pathname).toBe('/login');
  });
});
