import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { WebhookSource } from '../sources/webhook-source.js';

/** What a source has sent, and nobody else. */
export interface VerifiedReceipt {
  readonly source: WebhookSource;
  /** The body as it came. */
  readonly bytes: Buffer;
  /** The same message came within the last minute: it does not count for the limit of the source. */
  readonly isRepetition: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    verifiedReceipt?: VerifiedReceipt;
  }
}

/** Gives a handler with `@Allow('signature')` what HmacGuard has verified. */
export const Verified = createParamDecorator(
  (_: unknown, context: ExecutionContext): VerifiedReceipt => {
    const { verifiedReceipt } = context.switchToHttp().getRequest<FastifyRequest>();
    if (!verifiedReceipt) throw new Error('The signature of this request was not verified.');
    return verifiedReceipt;
  },
);
