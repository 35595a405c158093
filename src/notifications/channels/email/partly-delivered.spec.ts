import { PartlyDelivered } from './partly-delivered.js';

const PART = { holders: ['ada@example.com'], attempts: 1 };

describe('PartlyDelivered', () => {
  it('knows who has a mail until it is forgotten', () => {
    const partly = new PartlyDelivered();
    partly.remember('one', PART);
    expect(partly.find('one')).toEqual(PART);
    partly.forget('one');
    expect(partly.find('one')).toEqual({ holders: [], attempts: 0 });
  });

  it('keeps a thousand mails, those that were tried last', () => {
    const partly = new PartlyDelivered();
    for (let n = 0; n < 1_000; n += 1) partly.remember(`mail ${n}`, PART);
    partly.remember('mail 0', PART);
    partly.remember('another', PART);
    const kept = ['mail 0', 'mail 1', 'mail 2', 'another'].map((mail) => partly.find(mail));
    expect(kept.map(({ attempts }) => attempts)).toEqual([1, 0, 1, 1]);
  });
});
