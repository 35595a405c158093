import { readFileSync } from 'node:fs';
import type { RecordedExamples } from '../../src/platform/openapi/examples.js';
import { eventFormats } from '../../src/webhooks/formats/formats.js';
import type { Json } from '../../src/webhooks/reading/json.js';

const { operations } = JSON.parse(
  readFileSync('openapi/examples.json', 'utf8'),
) as RecordedExamples;

describe('the recorded examples', () => {
  it('show an event of each format that fits no other format', () => {
    const events = operations['receiveWebhook']!;
    const fitting = eventFormats().map(({ name }) => [
      name,
      eventFormats()
        .filter((format) => format.read(events[name]!.body as Json) !== undefined)
        .map((format) => format.name),
    ]);
    expect(fitting).toEqual(eventFormats().map(({ name }) => [name, [name]]));
  });
});
