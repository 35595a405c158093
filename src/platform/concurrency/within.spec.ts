import { within } from './within.js';

const never = new Promise<string>(() => undefined);

describe('work within a time', () => {
  it('answers what the work answers when that is in time', async () => {
    expect(await within(60_000, Promise.resolve('answer'), () => 'late')).toBe('answer');
  });

  it('fails as the work fails when that is in time', async () => {
    const failing = Promise.reject(new Error('It failed.'));
    await expect(within(60_000, failing, () => 'late')).rejects.toThrow('It failed.');
  });

  it('answers what is said of late work when the time is up', async () => {
    expect(await within(1, never, () => 'late')).toBe('late');
  });

  it('fails when late work is said to be a failure', async () => {
    const late = () => {
      throw new Error('Too late.');
    };
    await expect(within(1, never, late)).rejects.toThrow('Too late.');
  });

  it('leaves late work that fails alone', async () => {
    const { promise, reject } = Promise.withResolvers<string>();
    expect(await within(1, promise, () => 'late')).toBe('late');
    reject(new Error('Nobody hears of it.'));
  });

  it('leaves no timer behind', async () => {
    const before = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    await within(60_000, Promise.resolve(), () => undefined);
    const after = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    expect(after).toBe(before);
  });
});
