import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import ts from 'typescript';
import { examples } from '../../src/app.examples.js';
import { operationsOf, type OpenApiDocument } from '../../scripts/contract/document.js';
import type { Answer } from '../support/api-client.js';
import { readContract } from '../support/contract-check-document.js';
import { Player, type Understudy, WEBHOOK_SECRET } from '../support/examples/player.js';
import { SCENES } from '../support/examples/story.js';
import { keyOf } from '../support/examples/keys.js';

interface Sample {
  readonly lang: string;
  readonly source: string;
}

const run = promisify(execFile);

const samples = new Map(
  operationsOf(readContract() as unknown as OpenApiDocument).map(({ operation }) => {
    const listed = (operation as unknown as Record<string, Sample[]>)['x-codeSamples'] ?? [];
    return [operation.operationId, listed] as const;
  }),
);
const sampleOf = (operation: string, lang: string): string =>
  samples.get(operation)!.find((sample) => sample.lang === lang)!.source;

/** The first case in which all goes well is what samples send. */
const isSampled = (operation: string, named: string): boolean =>
  named === Object.entries(examples[operation] ?? {}).find(([, { status }]) => status < 400)?.[0];

/** curl writes the status of the answer, and its cookie, behind the body. */
const CURL_HOME = mkdtempSync(join(tmpdir(), 'its-curl-'));
writeFileSync(
  join(CURL_HOME, '.curlrc'),
  'silent\nwrite-out = "\\n%{http_code} %header{set-cookie}"\n',
);

async function byShell(source: string, env: Record<string, string>): Promise<Answer> {
  const { stdout } = await run('bash', ['-c', source], {
    env: { ...process.env, CURL_HOME, ...env },
    // The contract is among the answers.
    maxBuffer: 16 * 1_024 * 1_024,
  });
  const end = stdout.lastIndexOf('\n');
  const text = stdout.slice(0, end);
  const isJson = text.startsWith('{') && !text.includes('\n{');
  const body: unknown = isJson ? JSON.parse(text) : text;
  const [status, ...cookie] = stdout.slice(end + 1).split(' ');
  return { status: Number(status), headers: { 'set-cookie': [cookie.join(' ')] }, text, body };
}

describe('the code samples', () => {
  it('are there for every operation, in four languages', () => {
    const languages = [...samples.values()].map((all) => all.map(({ lang }) => lang).join());
    expect(new Set(languages)).toEqual(new Set(['Shell,TypeScript,Python,Go']));
  });

  it('send a key of their own with each POST that takes one, so that it can be repeated', () => {
    const posts = operationsOf(readContract() as unknown as OpenApiDocument).filter(
      ({ operation }) => JSON.stringify(operation).includes('"Idempotency-Key"'),
    );
    expect(posts.length).toBeGreaterThan(20);
    const without = posts.flatMap(({ operation: { operationId } }) =>
      samples
        .get(operationId)!
        .filter(({ source }) => !/Idempotency-Key.*(rand|uuid)/i.test(source))
        .map(({ lang }) => `${operationId} ${lang}`),
    );
    expect(without).toEqual([]);
  });

  it('are TypeScript that compiles', () => {
    const broken = [...samples.keys()].filter((operation) => {
      const fileName = `${operation}.mts`;
      const source = sampleOf(operation, 'TypeScript');
      const { diagnostics = [] } = ts.transpileModule(source, {
        fileName,
        reportDiagnostics: true,
        compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
      });
      return diagnostics.length > 0;
    });
    expect(broken).toEqual([]);
  });

  it('work in a shell, each at its place in the story', async () => {
    const played: string[] = [];
    const player: Player = await Player.start((): Understudy => async (request) => {
      const { operation, named, by, app } = request;
      if (!isSampled(operation, named)) return undefined;
      played.push(operation);
      const session = player.sessions.get(by)?.split('=')[1] ?? '';
      return await byShell(player.cast.real(sampleOf(operation, 'Shell')), {
        SERVICE_URL: app.url,
        API_KEY: by === 'nobody' ? '' : await keyOf(app, by),
        SESSION: session,
        WEBHOOK_SECRET,
      });
    });
    const refused: string[] = [];
    for (const scene of SCENES) {
      const problems = await player.play(scene);
      const told = problems.filter((problem) => problem.startsWith('answers '));
      refused.push(...told.map((problem) => `${scene.operation} ${scene.named} ${problem}`));
    }
    await player.close();
    expect(refused).toEqual([]);
    const missing = [...samples.keys()].filter((operation) => !played.includes(operation));
    // No job of a service just started has died, and nobody is there who could be told.
    expect(missing.toSorted()).toEqual([
      'listDeadJobs',
      'listNotificationDeliveries',
      'redeliverDeadNotifications',
      'redeliverNotification',
      'requeueDeadJob',
      'testNotificationChannel',
    ]);
  }, 600_000);
});
