import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Verdict = 'passed' | 'failed' | 'timed out';

/**
 * The tests start no server of their own: they use that of this process, which its environment names. A target may name any
 * of them, those that `npm test` leaves out as well.
 */
const CONFIG = `import base from './jest.config.mjs';
const { globalSetup, globalTeardown, ...rest } = base;
export default { ...rest, globalSetup: undefined, testPathIgnorePatterns: ['/node_modules/'] };
`;

/** A copy of the sources to put faults into: whatever happens to the run, the working tree stays as it is. */
export class Workspace {
  private readonly home = mkdtempSync(join(tmpdir(), 'its-mutation-'));

  constructor(private readonly root: string) {
    const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
      cwd: root,
      encoding: 'utf8',
    });
    for (const file of listed.split('\0').filter(Boolean)) this.restore(file);
    symlinkSync(join(root, 'node_modules'), join(this.home, 'node_modules'));
    writeFileSync(join(this.home, 'jest.mutation.mjs'), CONFIG);
  }

  put(file: string, text: string): void {
    writeFileSync(join(this.home, file), text);
  }

  restore(file: string): void {
    mkdirSync(dirname(join(this.home, file)), { recursive: true });
    copyFileSync(join(this.root, file), join(this.home, file));
  }

  /** Runs the specs up to the first that fails. */
  run(specs: readonly string[], limitMs: number): Promise<Verdict> {
    const jest = join('node_modules', 'jest', 'bin', 'jest.js');
    const options = [
      '--config=jest.mutation.mjs',
      '--runInBand',
      '--bail',
      '--silent',
      '--forceExit',
    ];
    const child = spawn(
      process.execPath,
      [
        '--experimental-vm-modules',
        '--disable-warning=ExperimentalWarning',
        jest,
        ...options,
        ...specs,
      ],
      {
        cwd: this.home,
        stdio: 'ignore',
        detached: true,
      },
    );
    return new Promise((resolve) => {
      let late = false;
      const limit = setTimeout(() => {
        late = true;
        // With whatever processes a test has started.
        process.kill(-child.pid!, 'SIGKILL');
      }, limitMs);
      child.on('exit', (code) => {
        clearTimeout(limit);
        resolve(late ? 'timed out' : code === 0 ? 'passed' : 'failed');
      });
    });
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
