export type Scalar = string | number | boolean;

/** One value of the raw data under the name that its tool gave it, or one of the well-known fields. */
export interface Fact {
  /** Absent for a value of the raw data. */
  readonly source?: 'fields';
  /** JSON pointer from the root of the raw data, or of the fields. */
  readonly pointer: string;
  /** The last name on the way, in small letters and digits only: `is_compliant` and `isCompliant` are one name. An address stays. */
  readonly key: string;
  /** All names on the way, each written so, with `/` in between; places in lists are left out. */
  readonly path: string;
  readonly value: Scalar;
  /** Of a fact that a rule found: the part of the value that it went by. */
  readonly words?: string;
  /** Of a note in words: however much it says, it is one record. */
  readonly remark?: true;
}
