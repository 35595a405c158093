import { SetMetadata } from '@nestjs/common';
import type { LimitClass } from '../http/caller.js';

/** A limit that is not one of the three classes: counted on its own, under its own name. */
export interface NamedLimit {
  readonly name: string;
  readonly perMinute: number;
}

export type Limited = LimitClass | 'none' | OpenLimit | NamedLimit;

/** What is open to all, each with a count of its own: nobody is kept from logging in by what logs out. */
export type OpenLimit = 'login' | 'logout';

/** What anybody may call: so many a minute for one address, and nothing for whoever has a session. */
export const STRANGERS_PER_MINUTE = 60;

export const LIMITED = Symbol('limited');

/**
 * Which limit a handler counts against, instead of read or write by its method. `none` for what has a scheme of its
 * own (see LimitCounter), `login` and `logout` for what is open to all. Where there is no principal the caller's address counts.
 */
export const Limited = (limit: Limited) => SetMetadata(LIMITED, limit);
