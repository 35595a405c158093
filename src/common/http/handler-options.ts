import { SetMetadata } from '@nestjs/common';

export type BodyKind = 'json' | 'json-or-form' | 'raw';

export const BODY_KIND = Symbol('body kind');
export const ANY_QUERY = Symbol('any query');

/** What the handler's body may be. Without it: JSON. `raw` leaves the bytes to the handler's own guard. */
export const Consumes = (kind: BodyKind) => SetMetadata(BODY_KIND, kind);

/** Ignores query parameters that it does not know. */
export const AnyQuery = () => SetMetadata(ANY_QUERY, true);
