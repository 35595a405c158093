import { cost, LINEAR } from '../../../test/support/cost.js';
import { isInMail, isOwnPlace } from './own-places.js';

describe('isOwnPlace', () => {
  it.each([
    'managed',
    'data/managed',
    'latestreport/analystverdict',
    'latestreport/data/managed',
    'allfields/data/signed',
    'process/parent/codesignature/trusted',
    'mail/authentication/spf/result',
    'spfverdict/status',
    'cmdb/10.0.0.5/role',
    'asset/2001:db8::5',
  ])('is true for %s', (path) => expect(isOwnPlace(path)).toBe(true));

  it.each([
    'headers/managed',
    'data/latestreport/managed',
    'mail/managed',
    'process/environment/managed',
    'environment/process/managed',
    'process/data/managed',
    'auth/process/managed',
    'process/10.0.0.5/managed',
    'cmdb/scanner/role',
    'cmdb/10.0.0.5/headers/role',
    '/managed',
    'data//managed',
    '_/managed',
    'dataprocess/managed',
  ])('is false for %s', (path) => expect(isOwnPlace(path)).toBe(false));

  it('takes linear time for long paths', async () => {
    const work = (length: number) => {
      for (const step of ['data/', 'process/', 'auth/', 'a.:', 'cmdb/1.']) {
        expect(isOwnPlace(`cmdb/${step.repeat(length)}/x/`)).toBe(false);
        expect(isOwnPlace(`${step.repeat(length)}/x/`)).toBe(false);
      }
    };
    expect(await cost(work, 50_000)).toBeLessThan(LINEAR);
  });

  it('distinguishes a mail from a request that has the same key names as a mail', () => {
    expect(isInMail('data/message/subject')).toBe(true);
    expect(isInMail('request/message/subject')).toBe(false);
    expect(isInMail('mail/headers/subject')).toBe(false);
  });
});
