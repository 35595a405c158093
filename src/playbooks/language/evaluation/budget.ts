import { LARGEST_COST, LARGEST_COST_OF_ALL, LONGEST_MADE_TEXT, MOST_ITEMS } from '../limits.js';
import { type Members, Mismatch } from './values.js';

/** So many characters are gone through, or written, in the time that one node of an expression takes. */
const CHARACTERS = 64;
/** So many pairs of characters are compared in that time when a text is looked for in another at its worst. */
const PAIRS = 128;
const COST_OF_KEY = 3;

/**
 * What an evaluation may still cost. It counts work and not time, so that the same expression over the same values always
 * ends the same way, on a busy machine too. An operation pays before it begins, or when its length is known, right after. Once
 * the budget is spent nothing goes on: `||` and loops go on after an error, but they pay for it.
 */
export class Budget {
  constructor(private left: number = LARGEST_COST) {}

  /**
   * What each of so many steps may cost. A share that is fixed, because what the steps before left over would tell a later
   * one what they had read, such as the verdict; and a dry run and a real one, which stops at each action, have the same.
   */
  static forOneOf(steps: number): Budget {
    return new Budget(Math.min(LARGEST_COST, LARGEST_COST_OF_ALL / steps));
  }

  spend(cost: number): void {
    this.left -= cost;
    if (this.left < 0) throw new Mismatch('This costs too much: its texts or lists are too long.');
  }

  /** For going through texts of this length in all. */
  read(characters: number): void {
    this.spend(characters / CHARACTERS);
  }

  /** For looking for a text in another. */
  search(text: string, wanted: string): void {
    this.spend((text.length * wanted.length) / PAIRS + text.length / CHARACTERS);
  }

  make(characters: number): void {
    if (characters > LONGEST_MADE_TEXT) {
      throw new Mismatch(`This makes a text of more than ${LONGEST_MADE_TEXT} characters.`);
    }
    this.read(characters);
  }

  /** To list them takes longer than to go through as many items. */
  keys(members: Members): string[] {
    const keys = Object.keys(members);
    this.spend(keys.length * COST_OF_KEY);
    return keys;
  }

  items(count: number): void {
    if (count > MOST_ITEMS) throw new Mismatch(`This list has more than ${MOST_ITEMS} items.`);
    this.spend(count);
  }
}
