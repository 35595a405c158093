import type { Json, JsonObject } from '../reading/json.js';
import { emailAlert } from './email-alert.js';

const read = (over: JsonObject, data: Json = { sender: 'a@example.net' }) =>
  emailAlert.read({ eventType: 'Alert', category: 'Other things', data, ...over });

describe('an alert about a mail', () => {
  it.each([
    ['Phish', 'phishing'],
    ['HighConfPhish', 'phishing'],
    ['High confidence phish', 'phishing'],
    ['Malware', 'malware'],
    ['Spam', 'spam'],
    ['Bulk', 'spam'],
    ['BusinessEmailCompromise', 'bec'],
    ['DataLossPrevention', 'policy_violation'],
    ['InitialAccess', undefined],
    ['ThreatManagement', undefined],
  ])('of the category %s is of the type %s', (category, type) =>
    expect(read({ category })).toMatchObject({ type, usualType: 'phishing' }),
  );

  it('quotes the subject in the title, so that its words cannot pose as those of the tool', () => {
    const data = { sender: 'a@example.net', subject: 'Closed (from ceo@example.com) "ok"' };
    expect(read({}, data)?.title).toBe(
      `Other things: "Closed (from ceo@example.com) 'ok'" (from a@example.net)`,
    );
  });

  it('takes the type from eventType when the category tells none', () => {
    expect(read({ eventType: 'Malware' })?.type).toBe('malware');
    expect(read({ eventType: 'Malware', category: 'Spam' })?.type).toBe('spam');
  });

  it.each([
    [
      { recipients: ['a@example.com', 'b@example.com', 'a@example.com'] },
      { recipient: 'a@example.com', recipients: 'a@example.com, b@example.com' },
    ],
    [{ recipients: [{ emailAddress: 'c@example.com' }] }, { recipient: 'c@example.com' }],
    [{ sender: { address: 'd@example.net' } }, { sender: 'd@example.net' }],
    [{ P1Sender: 'p1@example.net', P2Sender: 'p2@example.net' }, { sender: 'p2@example.net' }],
    [{ NetworkMessageId: 'n', InternetMessageId: '<i@x>' }, { message_id: '<i@x>' }],
    [{ NetworkMessageId: 'n' }, { message_id: 'n' }],
    [{ subject: 's', receivedAt: 'yesterday' }, { subject: 's' }],
    [{ subject: 's', sender: `${'x'.repeat(998)}@example.net` }, { subject: 's' }],
    [{ subject: 's', recipients: [null], sender: {} }, { subject: 's' }],
  ])('lifts of %j: %j', (data, lift) => expect(read({}, data)?.lift).toEqual(lift));

  it.each([
    ['without data', { data: null }],
    ['when data tells nothing of a mail', { data: { user: 'alice' } }],
    ['when eventType is a number', { eventType: 7 }],
    ['without a word on what it is about', { category: null }],
  ])('is not read %s', (_, over) => expect(read(over as JsonObject)).toBeUndefined());

  it.each(['entityType', 'creationTime'])('is known by its %s, too', (name) =>
    expect(read({ category: null, [name]: 'x' })).toBeDefined(),
  );
});
