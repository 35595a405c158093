const NOT_PLAIN = /[\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/**
 * JSON for a model to read: hidden characters are escapes, so that it sees them and so that what it copies is still the same; and
 * no mark of an end such as `</evidence>` can stand in it. For raw data.
 */
export function plainJson(value: unknown): string {
  const escaped = (character: string): string =>
    Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
      .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
      .join('');
  return JSON.stringify(value).replace(NOT_PLAIN, escaped).replaceAll('</', '<\\/');
}

/** Characters that nobody sees, and those that could end the fence. */
const HIDDEN_OR_FENCE = /[<>\p{C}\p{Zl}\p{Zp}]/gu;

/** JSON for the answers of tools: no such character is in it, they are written by number in its strings. */
export function harmlessJson(value: unknown): string {
  return JSON.stringify(value).replace(HIDDEN_OR_FENCE, (character) =>
    character.replace(/[^]/g, (unit) => `\\u${hex(unit.charCodeAt(0))}`),
  );
}

const hex = (unit: number): string => unit.toString(16).padStart(4, '0');
