import { readFileSync } from 'node:fs';
import type { RecordedExamples } from '../../scripts/contract/examples.js';
import { FORMATS } from '../../src/webhooks/reading/formats.js';
import type { Json } from '../../src/webhooks/reading/event-json.js';

const { operations } = JSON.parse(
  readFileSync('openapi/examples.json', 'utf8'),
) as RecordedExamples;

describe('the recorded examples', () => {
  it('include for each format an event that fits no other format', () => {
    const events = operations['receiveWebhook']!;
    const names = Object.keys(FORMATS);
    const fitting = names.map((name) =>
      Object.entries(FORMATS).flatMap(([format, read]) =>
        read(events[name]!.body as Json) ? [format] : [],
      ),
    );
    expect(fitting).toEqual(names.map((name) => [name]));
  });
});
