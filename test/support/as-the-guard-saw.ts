import { CredentialVerification } from '../../src/auth/authentication/credential-verification.js';
import type { TestApp } from './test-app.js';

/**
 * From now on the guards of the replica see the credential as it is at this moment: what becomes of it afterwards happens
 * between the guard and the transaction of each request. Mocks are restored by the test.
 */
export async function asTheGuardSaw(app: TestApp, kind: 'key' | 'session', token: string) {
  const verification = app.nest.get(CredentialVerification);
  const method = kind === 'key' ? 'verifyKey' : 'verifySession';
  const ask = verification[method].bind(verification) as CredentialVerification['verifyKey'];
  const seen = await ask(token);
  if (!seen) throw new Error('The credential does not hold.');
  const mock = jest.spyOn(verification, method) as jest.SpyInstance;
  mock.mockImplementation(async (other: string) => (other === token ? seen : await ask(other)));
}
