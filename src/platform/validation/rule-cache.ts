import { getMetadataStorage } from 'class-validator';

type Storage = ReturnType<typeof getMetadataStorage>;
type Rules = ReturnType<Storage['getTargetValidationMetadatas']>;
type RulesByProperty = ReturnType<Storage['groupByPropertyName']>;

let installed = false;

/**
 * For each object that it validates, class-validator walks through all classes that have rules, in search of those that
 * the object's class inherits: the more routes there are, the slower is each of them. The rules of a class are complete
 * once it is defined, so this looks them up once for each class. Rules in groups, which this service does not use, are
 * looked up each time as before.
 */
export function cacheRules(): void {
  if (installed) return;
  installed = true;
  const storage = getMetadataStorage();
  const lookUp = storage.getTargetValidationMetadatas.bind(storage);
  const group = storage.groupByPropertyName.bind(storage);
  const rules = new Map<string, WeakMap<object, Rules>>();
  const grouped = new WeakMap<Rules, RulesByProperty>();

  storage.getTargetValidationMetadatas = (target, schema, always, strictGroups, groups) => {
    if (schema || (groups && groups.length > 0)) {
      return lookUp(target, schema, always, strictGroups, groups);
    }
    const options = `${always} ${strictGroups}`;
    const ofClasses = rules.get(options) ?? new WeakMap<object, Rules>();
    rules.set(options, ofClasses);
    const found = ofClasses.get(target) ?? lookUp(target, schema, always, strictGroups, groups);
    ofClasses.set(target, found);
    return found;
  };
  storage.groupByPropertyName = (metadata) => {
    const found = grouped.get(metadata) ?? group(metadata);
    grouped.set(metadata, found);
    return found;
  };
}
