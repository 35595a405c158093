/** @jest-environment-options {"ownModules": true} */
import { jest } from '@jest/globals';
import { NameLookups } from './targets.js';

/** A name server that answers when the test says so. */
class Questions {
  readonly asked: string[] = [];
  private readonly open = new Map<string, PromiseWithResolvers<string>[]>();

  readonly ask = (name: string): Promise<string> => {
    this.asked.push(name);
    const answer = Promise.withResolvers<string>();
    this.open.set(name, [...(this.open.get(name) ?? []), answer]);
    return answer.promise;
  };

  get underWay(): number {
    return [...this.open.values()].flat().length;
  }

  async answer(name: string, error?: Error): Promise<void> {
    for (const one of this.open.get(name) ?? []) {
      if (error) one.reject(error);
      else one.resolve(name);
    }
    this.open.delete(name);
    await jest.advanceTimersByTimeAsync(0);
  }
}

const PROMPT_MS = 1_000;

describe('look-ups of names', () => {
  let questions: Questions;
  let lookups: NameLookups<string>;
  const failed = (found: Promise<string>) => found.catch((error: Error) => error.message);

  beforeEach(() => {
    jest.useFakeTimers();
    questions = new Questions();
    lookups = new NameLookups(questions.ask);
  });
  afterEach(() => jest.useRealTimers());

  /** Names with a slow look-up before. */
  const makeSlow = async (...names: string[]) => {
    const found = names.map((name) => lookups.find(name));
    await jest.advanceTimersByTimeAsync(PROMPT_MS);
    for (const name of names) await questions.answer(name);
    await Promise.all(found);
    questions.asked.length = 0;
  };

  it('are shared by concurrent callers and repeated for later ones', async () => {
    const found = [lookups.find('a.example'), lookups.find('a.example')];
    expect(questions.asked).toEqual(['a.example']);
    await questions.answer('a.example');
    expect(await Promise.all(found)).toEqual(['a.example', 'a.example']);
    void lookups.find('a.example');
    expect(questions.asked).toEqual(['a.example', 'a.example']);
  });

  it('report an error to all callers and retry for the next one', async () => {
    const found = [failed(lookups.find('a.example')), failed(lookups.find('a.example'))];
    await questions.answer('a.example', new Error('No such name.'));
    expect(await Promise.all(found)).toEqual(['No such name.', 'No such name.']);
    void lookups.find('a.example');
    expect(questions.underWay).toBe(1);
  });

  it('run one at a time for slow names, without delaying others', async () => {
    await makeSlow('a.example', 'b.example', 'c.example');
    const slow = ['a.example', 'b.example', 'c.example'].map((name) => lookups.find(name));
    const well = lookups.find('well.example');
    await jest.advanceTimersByTimeAsync(0);
    expect(questions.asked.toSorted()).toEqual(['a.example', 'well.example']);
    await questions.answer('well.example');
    expect(await well).toBe('well.example');
    for (const name of ['a.example', 'b.example', 'c.example']) {
      expect(questions.underWay).toBe(1);
      await questions.answer(name);
    }
    expect(await Promise.all(slow)).toHaveLength(3);
  });

  it('count as slow while they hang, even if no caller waits any more', async () => {
    void lookups.find('a.example');
    await makeSlow('b.example');
    for (let n = 0; n < 5; n += 1) void lookups.find('a.example');
    expect(questions.asked).toEqual([]);
  });

  it('continue with the next slow name if one does not resolve', async () => {
    await makeSlow('a.example', 'b.example');
    const first = failed(lookups.find('a.example'));
    const second = lookups.find('b.example');
    await jest.advanceTimersByTimeAsync(0);
    await questions.answer('a.example', new Error('No such name.'));
    await questions.answer('b.example');
    expect([await first, await second]).toEqual(['No such name.', 'b.example']);
  });

  it('treat a name as fast again after a fast look-up', async () => {
    await makeSlow('a.example', 'b.example');
    const prompt = lookups.find('a.example');
    await jest.advanceTimersByTimeAsync(PROMPT_MS - 1);
    await questions.answer('a.example');
    expect(await prompt).toBe('a.example');
    void lookups.find('b.example');
    void lookups.find('a.example');
    await jest.advanceTimersByTimeAsync(0);
    expect(questions.asked).toEqual(['a.example', 'a.example', 'b.example']);
  });
});
