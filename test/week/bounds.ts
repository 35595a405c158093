interface Bound {
  /** Goal. */
  readonly required: string;
  /** Maximum of the whole week and of the short form. */
  readonly long: number;
  readonly short: number;
}

const both = (most: number, required: string): Bound => ({ required, long: most, short: most });

/** Bounds of the rows. A bound above the goal is the current figure with some margin: lower it whenever the figure gets better. */
export const BOUNDS: Readonly<Record<string, Bound>> = {
  'steps that fail to evaluate': both(0, '0'),
  'delivered mails judged malicious whose quarantine was not asked for': both(0, '0'),
  'incidents of type `other`': both(10, '≤ 10 %'),
  'alerts that the tool calls critical, malicious or confirmed: `inconclusive`': both(20, '≤ 20 %'),
  'the same: false `benign`': both(0, '0'),
  'newsletters and other plain mail: `suspicious` or worse': both(10, '≤ 10 %'),
  'messages to people': { required: '≤ 250', long: 250, short: 110 },
  'messages about the wave of 40': both(2, '≤ 2'),
  'the first message about a critical incident: the longest wait': both(5, '≤ 5 s'),
  'failures that no list, no timeline and no channel shows': both(0, '0'),
};
