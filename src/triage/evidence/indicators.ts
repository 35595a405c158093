import { atOnce } from '../../platform/concurrency/semaphore.js';
import { fieldsBeside, type IncidentFields } from '../../incidents/incident-fields.js';
import { addressesIn, type Effort, type Spotted } from './addresses-in-text.js';
import type { ExtractedIndicator, IndicatorType } from './indicator.js';
import { namedType, namedValue } from './named-values.js';
import { type RawText, rawTexts } from './raw-values.js';
import { isBodyPart, isConsoleLink, isDocumentation, isId, isKind } from './tool-plumbing.js';

export { defang } from '../../incidents/defang.js';

const MOST_INDICATORS = 200;
/** Of one text, so that a mail full of addresses does not hide what the other fields say. */
const MOST_OF_ONE_TEXT = 60;
const MOST_POINTERS = 10;
const MOST_CHARACTERS = 2 * 1024 * 1024;
const MOST_WORDS = 20_000;
const TEXTS_OF_A_PIECE = 100;

/** Fields come before long texts, which an attacker may have filled. */
const LONGEST_FIELD = 1_000;

/** What a well-known field is, wherever its text stands. Of the others the keys of the raw data say it. */
const FIELD_TYPES: Readonly<Record<string, IndicatorType | 'address' | 'none'>> = {
  domain: 'address',
  url: 'address',
  ip: 'address',
  host: 'host',
  user: 'user',
  file: 'file',
  message_id: 'none',
  event_id: 'none',
  account: 'none',
  link: 'none',
};

/**
 * What can be looked up or compared in raw data of any shape, and in the well-known `fields` of the incident. Whoever wrote it can
 * waste a bounded effort only.
 */
export function extractIndicators(
  rawData: Readonly<Record<string, unknown>>,
  fields: IncidentFields = {},
): readonly ExtractedIndicator[] {
  return atOnce(indicatorsInPieces(rawData, fields));
}

/** The same, and it may be interrupted: many texts take tens of milliseconds. */
export function* indicatorsInPieces(
  rawData: Readonly<Record<string, unknown>>,
  fields: IncidentFields,
): Generator<void, readonly ExtractedIndicator[]> {
  const found = new Map<string, Spotted & { readonly pointers: string[] }>();
  const effort: Effort = { characters: MOST_CHARACTERS, words: MOST_WORDS };
  const types = new Map(
    Object.entries(FIELD_TYPES).map(([name, type]) => [fields[name]?.trim(), type]),
  );
  const ofRawData = rawTexts(rawData);
  yield;
  const texts = withoutPlumbing([
    ...ofRawData,
    ...rawTexts(fieldsBeside(rawData, fields)).map((text) => ({
      ...text,
      pointer: `fields${text.pointer}`,
    })),
  ]);
  const isLong = ({ value }: { value: string }): boolean => value.length > LONGEST_FIELD;
  const inOrder = [...texts.filter((text) => !isLong(text)), ...texts.filter(isLong)];
  for (const [at, text] of inOrder.entries()) {
    if (at % TEXTS_OF_A_PIECE === 0) yield;
    if (found.size === MOST_INDICATORS) break;
    let left = Math.min(MOST_OF_ONE_TEXT, MOST_INDICATORS - found.size);
    for (const spotted of indicatorsIn(text, types.get(text.value.trim()), effort)) {
      if (!spotted) {
        yield;
        continue;
      }
      const { type, value } = spotted;
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

/** Without what a tool writes about itself, and without the parts of a mail that are its text, with their digests. */
function withoutPlumbing(texts: readonly RawText[]): readonly RawText[] {
  const bodyParts = new Set(
    texts.filter(({ value }) => value.length < 64 && isBodyPart(value)).map(parentOf),
  );
  bodyParts.delete('');
  return texts.filter(
    (text) =>
      !isConsoleLink(text.name) &&
      !isDocumentation(text) &&
      !isId(text) &&
      !isKind(text) &&
      !(bodyParts.size > 0 && bodyParts.has(parentOf(text))),
  );
}

const parentOf = ({ pointer }: RawText): string => pointer.slice(0, pointer.lastIndexOf('/'));

function* indicatorsIn(
  text: RawText,
  fieldType: IndicatorType | 'address' | 'none' | undefined,
  effort: Effort,
): Generator<Spotted | undefined> {
  if (fieldType === 'none') return;
  const type = fieldType === 'address' ? undefined : (fieldType ?? namedType(text));
  const named = type && namedValue(type, text.value);
  if (named) yield named;
  // The name of a host, user or file often looks like a domain, also where it is no name worth keeping.
  if (type && !/:\/\/|@/.test(text.value)) return;
  yield* addressesIn(text.value, effort);
}
