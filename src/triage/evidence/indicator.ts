export const INDICATOR_TYPES = [
  'url',
  'domain',
  'ip',
  'email',
  'hash',
  'file',
  'host',
  'user',
] as const;
export type IndicatorType = (typeof INDICATOR_TYPES)[number];

/** Something that code found in an incident's raw data, and that can be looked up or compared. */
export interface ExtractedIndicator {
  /** Such as `i3`: short, and meaningless outside of its run. */
  readonly id: string;
  readonly type: IndicatorType;
  /** In one normal form. */
  readonly value: string;
  /** JSON pointers of where it is in raw_data; one that begins with `fields` leads into the well-known fields. */
  readonly pointers: readonly string[];
}
