import { getMetadataStorage, IsString, MaxLength, validate } from 'class-validator';
import { cacheRules } from './rule-cache.js';

class Named {
  @IsString()
  @MaxLength(5)
  readonly name!: unknown;
}

class Owned extends Named {
  @IsString()
  readonly owner!: unknown;
}

class Grouped {
  @IsString({ groups: ['strict'] })
  readonly name!: unknown;
}

const objectOf = <T extends object>(type: new () => T, values: object): T =>
  Object.assign(new type(), values);

async function broken(object: object, groups?: string[]): Promise<string[]> {
  const failures = await validate(object, groups ? { groups } : {});
  return failures.flatMap(({ property, constraints }) =>
    Object.keys(constraints ?? {}).map((rule) => `${property} ${rule}`),
  );
}

describe('cached rules', () => {
  beforeAll(cacheRules);

  it('judge each object of a class alike, and each class by its own and inherited rules', async () => {
    for (let time = 0; time < 3; time += 1) {
      expect(await broken(objectOf(Named, { name: 'far too long' }))).toEqual(['name maxLength']);
      expect(await broken(objectOf(Named, { name: 'short' }))).toEqual([]);
      expect(await broken(objectOf(Owned, { name: 'far too long', owner: 1 }))).toEqual([
        'owner isString',
        'name maxLength',
      ]);
    }
  });

  it('are looked up once for each class, and each time for groups', async () => {
    const storage = getMetadataStorage();
    const ofNamed = () => storage.getTargetValidationMetadatas(Named, '', false, false);
    expect(ofNamed()).toBe(ofNamed());
    expect(storage.groupByPropertyName(ofNamed())).toBe(storage.groupByPropertyName(ofNamed()));

    expect(await broken(objectOf(Grouped, { name: 1 }), ['strict'])).toEqual(['name isString']);
    expect(await broken(objectOf(Grouped, { name: 1 }), ['other'])).not.toContain('name isString');
  });
});
