import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inOneSentence } from './start-failure.js';

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail.');
}

describe('inOneSentence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'its-failure-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('names the file and what is wrong with it', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const below = join(file, 'data');
    expect(inOneSentence(failureOf(() => writeFileSync(below, '')))).toBe(
      `${below} is below something that is no folder.`,
    );
    expect(inOneSentence(failureOf(() => readFileSync(join(folder, 'gone'))))).toBe(
      `${join(folder, 'gone')} does not exist.`,
    );
    expect(inOneSentence(failureOf(() => mkdirSync(file)))).toBe(
      `${file} is a file where a folder is needed.`,
    );
    expect(inOneSentence(failureOf(() => readFileSync(folder)))).not.toMatch(/E[A-Z]{4,}$/);
  });

  it('leaves other messages as they are', () => {
    expect(inOneSentence(new Error('PORT must be a whole number.'))).toBe(
      'PORT must be a whole number.',
    );
    expect(inOneSentence('a word')).toBe('a word');
  });
});
