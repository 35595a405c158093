import type { LookupAddress } from 'node:dns';
import type { Settings } from '../config/settings.js';
import { Targets } from './targets.js';

describe('Targets', () => {
  it('share a look-up of a name in progress, and look the name up again later', async () => {
    let asked = 0;
    let answer = Promise.withResolvers<LookupAddress[]>();
    const resolve = () => {
      asked += 1;
      return answer.promise;
    };
    const settings = { allowedPrivateTargets: [] } as unknown as Settings;
    const targets = new Targets({ resolve }, settings);
    const find = () =>
      new Promise((resolved) => {
        targets.lookupFor('a.example')('a.example', { all: true }, (error, addresses) =>
          resolved(error?.message ?? addresses),
        );
      });
    const failing = [find(), find()];
    answer.reject(new Error('No such name.'));
    const message = 'The name a.example does not resolve.';
    expect([asked, await Promise.all(failing)]).toEqual([1, [message, message]]);

    answer = Promise.withResolvers();
    const found = find();
    answer.resolve([{ address: '93.184.216.34', family: 4 }]);
    expect([asked, await found]).toEqual([2, [{ address: '93.184.216.34', family: 4 }]]);
  });
});
