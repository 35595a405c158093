export const SESSION_SORTS = [
  '-created_at',
  'created_at',
  '-last_seen_at',
  'last_seen_at',
] as const;
export type SessionSort = (typeof SESSION_SORTS)[number];

export interface SessionRow {
  readonly id: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
  readonly address: string | null;
  readonly user_agent: string | null;
}

export interface NewSessionRow {
  readonly id: string;
  readonly userId: string;
  /** In hexadecimal. */
  readonly tokenHash: string;
  /** Where it was begun and with what, as its user is shown it. */
  readonly address: string;
  readonly userAgent?: string;
}
