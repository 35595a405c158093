const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  double: 'a number',
  bool: 'true or false',
  null: 'null',
  dyn: 'any value',
  Step: 'a step',
  Result: 'the result of a step',
  'google.protobuf.Timestamp': 'a time',
  'google.protobuf.Duration': 'a duration',
};

/** What the library has for the type of what would be in an empty list or object. */
const OF_NOTHING = /^(?:[A-Z]|undefined)$/;

/** What the library calls a type, as people call it. */
export function typeInWords(type: string): string {
  if (OF_NOTHING.test(type)) return 'nothing';
  if (type === 'list' || type.startsWith('list<')) return 'a list';
  return Object.hasOwn(WORDS, type) ? WORDS[type]! : 'an object';
}

/** The words at the beginning of a sentence. */
export function asSubject(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
