import type { ActionTypeName } from '../action-catalogue/action-types.js';
import { targetHash } from './duplicate-actions.js';

type Given = readonly [
  type: ActionTypeName,
  parameters: Readonly<Record<string, unknown>>,
  mailSender?: string,
];

const hashOf = (given: Given) => targetHash(...given).toString('hex');

describe('targetHash', () => {
  it.each<[string, Given, Given]>([
    [
      'upper and lower case',
      ['isolate_host', { host_id: 'WS-0142' }],
      ['isolate_host', { host_id: 'ws-0142.' }],
    ],
    [
      'another reason',
      ['disable_user', { user: 'bob', reason: 'a' }],
      ['disable_user', { user: 'bob' }],
    ],
    [
      'another duration',
      ['block_ip', { ip: '203.0.113.9', duration_minutes: 5 }],
      ['block_ip', { ip: '203.0.113.9' }],
    ],
    [
      'long and short IPv6',
      ['block_ip', { ip: '2001:DB8:0:0::1' }],
      ['block_ip', { ip: '2001:db8::1' }],
    ],
    [
      'mapped and plain IPv4',
      ['block_ip', { ip: '::ffff:10.0.0.1' }],
      ['block_ip', { ip: '10.0.0.1' }],
    ],
    [
      'encoded and plain labels',
      ['isolate_host', { host_id: 'xn--bcher-kva' }],
      ['isolate_host', { host_id: 'bücher' }],
    ],
    [
      'parameters in another order',
      ['quarantine_email', { recipient: 'bob@example.com', message_id: '<1@a>' }],
      ['quarantine_email', { message_id: '<1@a>', recipient: 'BOB@example.com', reason: 'x' }],
    ],
    [
      'a Message-ID with and without its brackets',
      ['delete_email', { message_id: ' <Abc@a> ' }],
      ['delete_email', { message_id: 'Abc@a' }],
    ],
    [
      'a sender with and without a display name',
      ['quarantine_email', { message_id: '<1@a>' }, 'Ann <Ann@b\u00fccher.example>'],
      ['quarantine_email', { message_id: '<1@a>' }, 'ann@xn--bcher-kva.example (Sales)'],
    ],
    [
      'an action and its inverse',
      ['isolate_host', { host_id: 'a' }],
      ['unisolate_host', { host_id: 'a' }],
    ],
  ])('is the same for %s', (_, one, other) => {
    expect(hashOf(one)).toBe(hashOf(other));
  });

  it.each<[string, Given, Given]>([
    ['two hosts', ['isolate_host', { host_id: 'a' }], ['isolate_host', { host_id: 'b' }]],
    ['a host and a user', ['isolate_host', { host_id: 'a' }], ['disable_user', { user: 'a' }]],
    [
      'one mailbox and all mailboxes',
      ['delete_email', { message_id: '<1@a>' }],
      ['delete_email', { message_id: '<1@a>', recipient: 'bob@example.com' }],
    ],
    [
      'mails of two senders with one Message-ID',
      ['quarantine_email', { message_id: '<1@a>' }, 'one@evil.example'],
      ['quarantine_email', { message_id: '<1@a>' }, 'two@evil.example'],
    ],
    [
      'a mail of one sender and of any sender',
      ['delete_email', { message_id: '<1@a>' }, 'one@evil.example'],
      ['delete_email', { message_id: '<1@a>' }],
    ],
    [
      'senders that are not addresses',
      ['delete_email', { message_id: '<1@a>' }, 'Payroll'],
      ['delete_email', { message_id: '<1@a>' }, 'Accounting'],
    ],
    [
      'Message-IDs of another case',
      ['delete_email', { message_id: '<Abc@a>' }],
      ['delete_email', { message_id: '<aBC@a>' }],
    ],
    [
      'a value that looks like two',
      ['delete_email', { message_id: '<1@a>', recipient: 'b' }],
      ['delete_email', { message_id: '<1@a>","recipient":"b' }],
    ],
  ])('differs for %s', (_, one, other) => {
    expect(hashOf(one)).not.toBe(hashOf(other));
  });
});
