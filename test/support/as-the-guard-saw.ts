import { Verification } from '../../src/auth/principals/verification.js';
import type { TestApp } from './test-app.js';

/**
 * From now on the guards of the replica see the credential as it is at this moment: what becomes of it afterwards happens
 * between the guard and the transaction of each request. Mocks are restored by the test.
 */
export async function asTheGuardSaw(app: TestApp, kind: 'key' | 'session', token: string) {
  const verification = app.nest.get(Verification);
  const ask = verification[kind].bind(verification) as Verification['key'];
  const seen = await ask(token);
  if (!seen) throw new Error('The credential does not hold.');
  const mock = jest.spyOn(verification, kind) as jest.SpyInstance;
  mock.mockImplementation(async (other: string) => (other === token ? seen : await ask(other)));
}
