/** Matches invisible characters. Excludes line breaks, tabs, and characters in emoji that change the visible emoji. */
const HIDDEN =
  /(?:(?![\t\n\r]|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?)[\ufe0f\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}])+/gu;

/** Also matches the bracket of marks, so that text cannot imitate a mark. */
const HIDDEN_OR_MARK = new RegExp(`${HIDDEN.source}|⟦`, 'gu');

export const LONGEST_SHOWN = 4_096;

const MOST_NAMED = 3;

/** Replaces each run of hidden characters with a mark such as `⟦U+200B×14⟧`. */
export function visibleText(text: string): string {
  return text.replace(HIDDEN_OR_MARK, mark);
}

export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, '');
}

/** Returns JSON with escaped hidden characters and `<`, so that a value cannot contain a mark such as `</evidence>`. */
export function plainJson(value: unknown): string {
  const escapeOf = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(UNSAFE, (found) => found.replace(/[^]/g, escapeOf));
}

const UNSAFE = /[<\p{Cf}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

function mark(run: string): string {
  const points = [...run];
  const names = [...new Set(points)].slice(0, MOST_NAMED).map((character) => {
    return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  });
  return `⟦${names.join(' ')}${points.length > 1 ? `×${points.length}` : ''}⟧`;
}
