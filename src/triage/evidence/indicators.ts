import { fieldsBeside, type IncidentFields } from '../../incidents/incident-fields.js';
import { addressesIn, type Effort, type Spotted } from './addresses-in-text.js';
import type { ExtractedIndicator } from './indicator.js';
import { namedType, namedValue } from './named-values.js';
import { type RawText, rawTexts } from './raw-values.js';

export { defang } from './defang.js';

const MOST_INDICATORS = 200;
/** Of one text, so that a mail full of addresses does not hide what the other fields say. */
const MOST_OF_ONE_TEXT = 60;
const MOST_POINTERS = 10;
const MOST_CHARACTERS = 2 * 1024 * 1024;
const MOST_WORDS = 20_000;

/** Fields come before long texts, which an attacker may have filled. */
const LONGEST_FIELD = 1_000;

/** What can be looked up or compared in raw data of any shape. Whoever wrote it can waste a bounded effort only. */
export function extractIndicators(
  rawData: Readonly<Record<string, unknown>>,
  fields: IncidentFields = {},
): readonly ExtractedIndicator[] {
  const found = new Map<string, Spotted & { readonly pointers: string[] }>();
  const effort: Effort = { characters: MOST_CHARACTERS, words: MOST_WORDS };
  const texts = [
    ...rawTexts(rawData),
    ...rawTexts(fieldsBeside(rawData, fields)).map((text) => ({
      ...text,
      pointer: `fields${text.pointer}`,
    })),
  ];
  const isLong = ({ value }: { value: string }): boolean => value.length > LONGEST_FIELD;
  const inOrder = [...texts.filter((text) => !isLong(text)), ...texts.filter(isLong)];
  for (const text of inOrder) {
    if (found.size === MOST_INDICATORS) break;
    let left = Math.min(MOST_OF_ONE_TEXT, MOST_INDICATORS - found.size);
    for (const { type, value } of indicatorsIn(text, effort)) {
      const key = `${type} ${value}`;
      const known = found.get(key);
      if (known) {
        if (known.pointers.length < MOST_POINTERS && !known.pointers.includes(text.pointer)) {
          known.pointers.push(text.pointer);
        }
      } else if (left > 0) {
        found.set(key, { type, value, pointers: [text.pointer] });
        left -= 1;
      }
    }
  }
  return [...found.values()].map((indicator, index) => ({ id: `i${index + 1}`, ...indicator }));
}

function* indicatorsIn(text: RawText, effort: Effort): Generator<Spotted> {
  const type = namedType(text);
  const named = type && namedValue(type, text.value);
  if (named) yield named;
  // The name of a host or a file often looks like a domain.
  const isAddress = /:\/\/|@/.test(text.value);
  if ((type === 'host' || type === 'file') && named && !isAddress) return;
  yield* addressesIn(text.value, effort);
}
