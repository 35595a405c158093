import { existsSync, readFileSync } from 'node:fs';
import { shellBlocks } from '../../scripts/readme/blocks.js';
import { declaredSettings } from '../../src/platform/config/settings.js';
import '../../src/platform/config/settings.js';

const DOCUMENTS = [
  'README.md',
  'CHANGELOG.md',
  'docs/operations.md',
  'docs/figures.md',
  'docs/playbooks.md',
  'docs/triage.md',
  'docs/webhooks.md',
  'docs/webhook-presets.md',
];
const readme = readFileSync('README.md', 'utf8');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>;
};

describe('the README', () => {
  it('starts and tests with one command each', () => {
    const commands = shellBlocks(readme).map((block) => block.commands);
    expect(commands[0]).toBe('npm ci && npm start');
    expect(commands).toContain('npm ci && npm test');
  });

  it('names only settings that exist', () => {
    const known = declaredSettings.map(({ variable }) => variable);
    const named = [...readme.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.includes(name ?? ''))).toEqual([]);
  });
});

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(document, 'utf8');

  it('links only to files that exist', () => {
    const folder = document.includes('/') ? 'docs/' : '';
    const targets = [...text.matchAll(/\]\((?!http)([^)#]+)/g)].map(([, path]) => folder + path);
    expect(targets.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('names only commands that exist', () => {
    const named = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map(([, name]) => name);
    expect(named.filter((name) => !(name! in scripts))).toEqual([]);
  });
});
