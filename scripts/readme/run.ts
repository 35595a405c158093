import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { sameAnswer, shellBlocks } from './blocks.ts';
import { answersOf, USUAL_PORT } from './shell.ts';

/**
 * Runs the README: starts the service in a copy of the checkout, runs every shell block unchanged, and compares the
 * output with the README.
 */
const BY_THEMSELVES = ['npm ci && npm start', 'npm ci && npm test'];

interface Service {
  stop(): Promise<number>;
}
interface ServiceModule {
  readonly freePort: () => Promise<number>;
  readonly startService: (settings: object) => Promise<Service>;
}

function copyOfCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'its-readme-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    encoding: 'utf8',
  });
  const files = listed.split('\n').filter((file) => file !== '' && existsSync(file));
  if (existsSync('dist')) files.push('dist');
  for (const file of files) {
    cpSync(file, join(folder, file), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function isFree(port: string): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/live`).then(
    () => false,
    () => true,
  );
}

async function main(): Promise<void> {
  const all = shellBlocks(readFileSync('README.md', 'utf8'));
  const blocks = all.filter(({ commands }) => !BY_THEMSELVES.includes(commands));
  const folder = copyOfCheckout();
  const { freePort, startService } = (await import(
    join(folder, 'scripts/lib/service.mjs')
  )) as ServiceModule;
  // Uses another port if the port of the README is in use.
  const port = (await isFree(USUAL_PORT)) ? USUAL_PORT : String(await freePort());
  let service: Service | undefined;
  try {
    service = await startService({ PORT: port, DATA_DIR: '.data', BOOTSTRAP_ADMIN_API_KEY: '' });
    const answers = await answersOf(blocks, { cwd: folder, port });
    blocks.forEach(({ commands, shown }, index) => {
      const same = shown === undefined || sameAnswer(shown, answers[index] ?? '');
      process.stdout.write(`${same ? 'ok    ' : 'FAILED'} ${commands.split('\n')[0]}\n`);
      if (same) return;
      process.stdout.write(`The README shows\n${shown}\nand the answer was\n${answers[index]}\n`);
      process.exitCode = 1;
    });
  } finally {
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

void main();
