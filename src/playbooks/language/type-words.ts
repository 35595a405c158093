const WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  double: 'a number',
  bool: 'true or false',
  null: 'null',
  dyn: 'any value',
  'google.protobuf.Timestamp': 'a time',
  'google.protobuf.Duration': 'a duration',
};

/** What the library calls a type, as people call it. The values of all types that have fields are objects. */
export function typeInWords(type: string): string {
  if (type === 'list' || type.startsWith('list<')) return 'a list';
  return Object.hasOwn(WORDS, type) ? WORDS[type]! : 'an object';
}

/** The words at the beginning of a sentence. */
export function asSubject(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
