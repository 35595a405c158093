import { eventFormats } from '../formats/formats.js';
import { DELIVERIES } from './receipt.examples.js';

describe('DELIVERIES', () => {
  it.each(Object.entries(DELIVERIES))('shows what fits its format alone: %s', (name, event) => {
    const fitting = eventFormats().filter((one) => one.read(event) !== undefined);
    expect(fitting.map((one) => one.name)).toEqual([name]);
  });
});
