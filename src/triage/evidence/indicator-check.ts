import type { Indicator } from '../../incidents/incident.js';
import { storable } from '../../platform/text.js';
import { refang } from '../../incidents/defang.js';
import { INDICATOR_TYPES } from './indicator.js';
import { rawTexts } from './raw-values.js';

/** The search below takes time by the length of the text times that of the value, where both repeat themselves. */
const MOST_INDICATORS = 50;
const SHORTEST_VALUE = 3;
const LONGEST_VALUE = 2_048;
const LONGEST_SEARCHED = 200;

/** How much text is searched: a model is shown no more of one text, and of all of them together. */
const MOST_OF_A_TEXT = 4_096;
const MOST_CHARACTERS = 128 * 1024;

interface Haystack {
  readonly source: string;
  readonly pointer: string;
  readonly text: string;
}

/**
 * Those indicators that a model did not make up: their value is part of a text that it was shown, in small or capital letters and
 * de-fanged or not. Where it was found is said by code, too, and only of raw data.
 */
export function indicatorsInSources(
  indicators: readonly Indicator[],
  sources: ReadonlyMap<string, unknown>,
): Indicator[] {
  if (indicators.length === 0) return [];
  const texts = searchedTexts(sources);
  const kept = new Map<string, Indicator>();
  for (const { type, value } of indicators.slice(0, MOST_INDICATORS)) {
    const plain = refang(value).trim();
    const key = `${type} ${plain.toLowerCase()}`;
    if (kept.has(key) || !isIndicator(type, plain)) continue;
    const place = placeOf(texts, plain.toLowerCase());
    if (!place) continue;
    const isRaw = place.source === 'raw_data' && place.pointer !== '';
    const found_in = isRaw ? storable(place.pointer) : undefined;
    kept.set(key, { type, value: plain, ...(found_in !== undefined && { found_in }) });
  }
  return [...kept.values()];
}

function isIndicator(type: string, value: string): boolean {
  if (value.length < SHORTEST_VALUE || value.length > LONGEST_VALUE) return false;
  const isKnown = (INDICATOR_TYPES as readonly string[]).includes(type);
  return isKnown && value === storable(value);
}

/** A long value, such as the address of a page, has to be a word of its text. */
function placeOf(texts: readonly Haystack[], value: string): Haystack | undefined {
  return value.length <= LONGEST_SEARCHED
    ? texts.find(({ text }) => text.includes(value))
    : texts.find(({ text }) => text.split(BETWEEN_WORDS).includes(value));
}

const BETWEEN_WORDS = /[\s"'<>()]+/;

function searchedTexts(sources: ReadonlyMap<string, unknown>): Haystack[] {
  let left = MOST_CHARACTERS;
  return [...sources].flatMap(([source, value]) =>
    rawTexts(value).flatMap((found) => {
      if (left <= 0) return [];
      const shown = found.value.slice(0, MOST_OF_A_TEXT);
      left -= shown.length;
      const text = refang(shown).toLowerCase();
      return text.length < SHORTEST_VALUE ? [] : [{ source, pointer: found.pointer, text }];
    }),
  );
}
