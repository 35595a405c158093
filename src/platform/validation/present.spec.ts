import { PickType } from '@nestjs/swagger';
import { Instant, Nested, NestedList, Text } from './fields.js';
import { present } from './present.js';

class PartDto {
  @Text({ optional: true })
  readonly note?: string;
}

class ThingDto {
  @Text()
  readonly name: string;

  @Instant({ optional: true })
  readonly seen_at?: Date;

  @Nested(() => PartDto, { optional: true })
  readonly part?: PartDto;

  @NestedList(() => PartDto)
  readonly parts: PartDto[];
}

class ThingSummaryDto extends PickType(ThingDto, ['name']) {}

class LongThingDto extends ThingSummaryDto {
  @Text()
  readonly text: string;
}

const ROW = {
  secret: 'x',
  parts: [{ note: null, secret: 'x' }, { note: 'b' }],
  part: { note: 'a', secret: 'x' },
  seen_at: null,
  name: 'n',
};

describe('present', () => {
  it('copies the declared fields in order, and leaves out fields that are null', () => {
    expect(JSON.stringify(present(ThingDto)(ROW))).toBe(
      '{"name":"n","part":{"note":"a"},"parts":[{},{"note":"b"}]}',
    );
  });

  it('writes times in ISO 8601', () => {
    const row = { ...ROW, seen_at: new Date(0) };
    expect(JSON.stringify(present(ThingDto)(row))).toContain(
      '"seen_at":"1970-01-01T00:00:00.000Z"',
    );
  });

  it('copies the fields of a mapped type and of its subclass', () => {
    expect(present(ThingSummaryDto)(ROW)).toEqual({ name: 'n' });
    expect(present(LongThingDto)({ ...ROW, text: 't' })).toEqual({ name: 'n', text: 't' });
  });

  it('reads the metadata of a class once', () => {
    present(ThingDto)(ROW);
    const read = jest.spyOn(Reflect, 'getMetadata');
    present(ThingDto)(ROW);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
  });

  it('rejects a class without fields', () => {
    expect(() => present(class Empty {})({})).toThrow('Empty declares no fields.');
  });
});
