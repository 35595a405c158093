/** Characters that a text may have. */
export const LONGEST_TEXT = 4_096;
/** That a number may be: what every language holds in an integer. */
export const LARGEST_NUMBER = 2_147_483_647;
