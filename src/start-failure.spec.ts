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

  it('names the file and its problem', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    const below = join(file, 'data');
    expect(inOneSentence(failureOf(() => writeFileSync(below, '')))).toBe(
      `${below} is below a path that is not a folder.`,
    );
    expect(inOneSentence(failureOf(() => readFileSync(join(folder, 'gone'))))).toBe(
      `${join(folder, 'gone')} does not exist.`,
    );
    expect(inOneSentence(failureOf(() => mkdirSync(file)))).toBe(
      `${file} is a file, but a folder is required.`,
    );
    expect(inOneSentence(failureOf(() => readFileSync(folder)))).not.toMatch(/E[A-Z]{4,}$/);
  });

  it('names the folder in which this user cannot create anything', () => {
    const path = join(folder, 'new', 'data');
    expect(inOneSentence(Object.assign(new Error('EACCES'), { code: 'EACCES', path }))).toBe(
      `${path} does not exist, and this user cannot create it in ${folder}: change its owner or permissions.`,
    );
    expect(
      inOneSentence(Object.assign(new Error('EACCES'), { code: 'EACCES', path: folder })),
    ).toBe(`${folder} is not accessible to this user: change its owner or permissions.`);
  });

  it('keeps other messages', () => {
    expect(inOneSentence(new Error('PORT must be a whole number.'))).toBe(
      'PORT must be a whole number.',
    );
    expect(inOneSentence('a word')).toBe('a word');
  });
});
