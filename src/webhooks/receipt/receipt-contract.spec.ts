import { eventFormats } from '../formats/formats.js';
import { DELIVERY_EXAMPLES } from './receipt-contract.js';

describe('DELIVERY_EXAMPLES', () => {
  it.each(Object.entries(DELIVERY_EXAMPLES))(
    'shows what fits its format alone: %s',
    (name, event) => {
      const fitting = eventFormats().filter((one) => one.read(event) !== undefined);
      expect(fitting.map((one) => one.name)).toEqual([name]);
    },
  );
});
