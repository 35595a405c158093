export const LONGEST_TITLE = 200;

/** What is read of a text: as much as a title can show, and some more for what is left out of it. */
const MOST_READ = 4 * LONGEST_TITLE;

/** Line breaks, tabs, NUL and every kind of space; U+2800 is a letter of Braille that shows as a space. */
const GAPS = /[\p{Cc}\p{Z}\u2800]+/gu;

/** What nobody sees, such as the characters that turn the direction of writing: with them one title looks like another. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/** The words of somebody else as one line of at most so many characters; undefined when there is nothing to see in them. */
export function titleLine(text: string, most = LONGEST_TITLE): string | undefined {
  const seen = visible(text.slice(0, MOST_READ));
  return seen === '' ? undefined : shortened(seen, most);
}

function visible(text: string): string {
  return text.toWellFormed().replace(UNSEEN, '').replace(GAPS, ' ').trim();
}

/** Never ends in half of a surrogate pair. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most - 1);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}
