export const LONGEST_TITLE = 200;

/** What is read of a text: as much as a title can show, and some more for what is left out of it. */
const MOST_READ = 4 * LONGEST_TITLE;

/** Line breaks, tabs, NUL and every kind of space; U+2800 is a letter of Braille that shows as a space. */
const GAPS = /[\p{Cc}\p{Z}\u2800]+/gu;

/** What nobody sees, such as the characters that turn the direction of writing: with them one title looks like another. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]+/gu;

/** The words of somebody else as one line of at most so many characters; undefined when there is nothing to see in them. */
export function titleLine(text: string, most = LONGEST_TITLE): string | undefined {
  const seen = oneLine(text.slice(0, MOST_READ));
  return seen === '' ? undefined : shortened(seen, most);
}

/** All that is to be seen of a text, in one line: what it hides, or turns round, would change the words beside it, too. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(UNSEEN, '').replace(GAPS, ' ').trim();
}

/** That there is something to be seen. */
export const SEEN = /[^\p{Cc}\p{Z}\u2800\p{Cf}\p{Default_Ignorable_Code_Point}]/u;

/** Never ends in half of a surrogate pair. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const kept = text.slice(0, most - 1);
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}…`;
}
