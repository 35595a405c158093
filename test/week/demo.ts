import { chromium, type Page } from 'playwright-core';
import { runToEnd } from '../bench/lib/processes.ts';
import { play, type Story } from './lib/play.ts';
import { PASSWORD, type Site, startSite } from './lib/site.ts';
import { week } from './lib/week.ts';

/*
 * `npm run demo` starts the service on a temporary folder, replays a week of a security operations centre, and prints
 * the address and the logins. Ctrl+C ends the service and removes the folder.
 *
 * `npm run pictures` does the same and writes the pictures of the README.
 *
 *   PORT (3000)
 *   CHROMIUM_PATH (/usr/bin/chromium)
 */

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const PORT = process.env['PORT'] ?? '3000';
const ADDRESS = `http://127.0.0.1:${PORT}`;
const PICTURES = 'docs/pictures';
const VIEWPORT = { width: 1_200, height: 640 };

void runToEnd(async () => {
  print('Starting the service and replaying a week. This takes about 30 s.');
  const site = await startSite({ PORT, PUBLIC_URL: ADDRESS });
  const days = week(25).map(({ posts, ...day }) => ({
    ...day,
    posts: posts.map((post) => ({ ...post, atOnce: true })),
  }));
  const { events, stories } = await play({ ...site, passHour: async () => undefined }, days);
  if (process.argv.includes('--pictures')) return await takePictures(stories);
  await describe(site, events, stories.length);
  await new Promise(() => undefined);
});

async function describe(site: Site, events: number, incidents: number): Promise<void> {
  const waiting = await site.admin.list('/api/actions?status=pending_approval');
  print(
    `${events} events made ${incidents} incidents. ${waiting.length} actions wait for approval.`,
  );
  print(`${site.messages.length} messages went to a local recorder. The demo calls no vendor.`);
  print(`\nOpen ${ADDRESS}/docs and log in. Each user has the password: ${PASSWORD}`);
  for (const [role, { name }] of Object.entries(site.people)) print(`  ${name}  ${role}`);
  print('\nCtrl+C ends the demo and removes its data.');
}

async function takePictures(stories: readonly Story[]): Promise<void> {
  const browser = await chromium.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage({ viewport: VIEWPORT });
    await page.goto(`${ADDRESS}/login?next=/docs`);
    await page.getByLabel('User name').fill('sam');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByText('Approve').first().waitFor();
    await shoot(page, 'approvals');
    await showTimeline(page, stories.find(({ truth }) => truth.wave)!.number);
    await shoot(page, 'timeline');
    // A new page, because this page keeps its scroll position.
    const metrics = await browser.newPage({ viewport: VIEWPORT });
    await metrics.setContent(await plot());
    await shoot(metrics, 'metrics');
  } finally {
    await browser.close();
  }
}

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `${PICTURES}/${name}.png` });
  print(`${PICTURES}/${name}.png`);
}

/** Executes the operation in Swagger UI and scrolls to the verdict in the response. */
async function showTimeline(page: Page, incident: string): Promise<void> {
  const block = page.locator('#operations-Incidents-listIncidentTimeline');
  await block.locator('.opblock-summary-control').click();
  await block.locator('input').first().fill(incident);
  await block.getByRole('button', { name: 'Execute' }).click();
  const response = block.locator('.live-responses-table pre').first();
  await response.waitFor();
  await response.evaluate((element) => {
    const before = element.textContent.split('"triage_completed"')[0]!.split('\n').length - 3;
    element.style.maxHeight = '414px';
    element.scrollTop = 18 * before + 6;
  });
  await block.locator('.request-url').evaluate((element) => {
    element.style.scrollMarginTop = '4px';
    element.scrollIntoView();
  });
}

const PANELS = [
  ['Incidents by type', 'incidents_total', 'type'],
  ['Webhooks by source', 'webhook_received_total', 'source'],
  ['Actions by type', 'actions_executed_total', 'action_type'],
  ['Actions by outcome', 'actions_executed_total', 'status'],
] as const;

/** Draws the counters of the Grafana dashboard as bars. */
async function plot(): Promise<string> {
  const metrics = await (await fetch(`${ADDRESS}/metrics`)).text();
  const panels = PANELS.map(([title, metric, label]) => {
    const sums = new Map<string, number>();
    const line = new RegExp(`^${metric}\\{[^}]*\\b${label}="([^"]*)"[^}]*\\} (\\S+)$`, 'gm');
    for (const [, name, value] of metrics.matchAll(line)) {
      sums.set(name!, (sums.get(name!) ?? 0) + Number(value));
    }
    const top = [...sums]
      .filter(([, n]) => n > 0)
      .toSorted((a, b) => b[1] - a[1])
      .slice(0, 8);
    const bars = top.map(
      ([name, n]) =>
        `<tr><th>${name}<td><i style="width:${(230 * n) / top[0]![1]}px"></i>${n}</tr>`,
    );
    return `<section><h2>${title}</h2><table>${bars.join('')}</table></section>`;
  });
  return `<style>
    body { margin: 0; padding: 20px; background: #f2f5f8; font: 15px system-ui, sans-serif; display: grid; grid-template-columns: 1fr 1fr; gap: 20px }
    section { background: #fff; padding: 8px 20px; border: 1px solid #ccd }
    h2 { font-size: 16px } th { text-align: right; font-weight: normal; padding: 3px 8px }
    i { display: inline-block; height: 14px; margin-right: 6px; background: #1b4f6b; vertical-align: middle }
  </style>${panels.join('')}`;
}
