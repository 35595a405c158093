import { fieldsBeside, fieldsOfRawData, fieldText, INCIDENT_FIELDS } from './incident-fields.js';
import { KNOWN_INCIDENT_TYPES } from './incident.js';
import { incidentTitle } from './titles.js';

/** Fields that titles do not show, because they do not help to identify an incident in a list. */
const NOT_IN_TITLES = ['message_id', 'received_at', 'outcome', 'link', 'event_id'];

describe('INCIDENT_FIELDS', () => {
  it('appear in titles, except fields that say nothing in a list', () => {
    const silent = Object.keys(INCIDENT_FIELDS).filter((key) =>
      KNOWN_INCIDENT_TYPES.every(
        (type) => !incidentTitle(type, { [key]: 'its value' }, 'siem').includes('its value'),
      ),
    );
    expect(silent).toEqual(NOT_IN_TITLES);
  });
});

describe('fieldsOfRawData', () => {
  it.each([
    ['SUCCESS', 'succeeded'],
    ['Failure', 'failed'],
    ['DENY', 'blocked'],
    ['blocked', 'blocked'],
    ['allowed', undefined],
    ['3 of 4 failed', undefined],
  ])('normalises the outcome %s to %s', (said, outcome) => {
    expect(fieldsOfRawData({ outcome: said })['outcome']).toBe(outcome);
  });
});

describe('fieldText', () => {
  it.each([
    [' a ', 'a'],
    [7, '7'],
    [['first', 'second'], 'first'],
    ['', undefined],
    [' ', undefined],
    [[], undefined],
    [{ name: 'x' }, undefined],
    [[['deep']], undefined],
    [null, undefined],
    [true, 'true'],
    ['x'.repeat(4097), undefined],
  ])('given %p, returns %p', (value, text) => expect(fieldText(value)).toBe(text));
});

describe('fieldsOfRawData', () => {
  it('reads the well-known keys at the top level, each as one text', () => {
    const rawData = {
      sender: 'a@example.net',
      recipient: ['b@example.com', 'c@example.com'],
      host: { name: 'ws-1' },
      data: { user: 'ada' },
      colour: 'red',
      constructor: 'x',
    };
    expect(fieldsOfRawData(rawData)).toEqual({
      sender: 'a@example.net',
      recipient: 'b@example.com',
    });
  });
});

describe('fieldsBeside', () => {
  it('omits fields whose value is in the raw data, too', () => {
    const rawData = { sender: 'a@example.net', recipient: ['b@example.com'] };
    const fields = fieldsOfRawData(rawData);
    expect(fieldsBeside(rawData, fields)).toEqual({ recipient: 'b@example.com' });
  });
});
