import type { FastifyRequest } from 'fastify';
import { InsufficientApprovalLevelError, OwnRequestError } from '../authorisation.js';
import type { Principal } from '../principal.js';
import type { Refusals } from './refusals.js';

/** Writes down that the caller was refused, where the work finds that out and not a guard. */
export async function tellRefusals<T>(
  work: Promise<T>,
  refusals: Refusals,
  caller: Principal,
  request: FastifyRequest,
): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof InsufficientApprovalLevelError) {
      await refusals.level(caller, error.required, request);
    }
    if (error instanceof OwnRequestError) await refusals.ownRequest(caller, request);
    throw error;
  }
}
