import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { CallerRefusedError } from '../auth.errors.js';
import { Refusals } from './refusals.js';

/**
 * The one place where the refusal of a known caller becomes an audit record, whether a guard, a service or a
 * transaction found it: they throw, and need to know nothing of the request.
 */
@Injectable()
@Catch(CallerRefusedError)
export class RefusalFilter implements ExceptionFilter {
  private readonly answers = new ErrorFilter();

  constructor(private readonly refusals: Refusals) {}

  /** The record comes first, so that whoever has the answer finds it. A record that cannot be written is logged. */
  async catch(error: CallerRefusedError, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    await this.refusals.ofCaller(error.refusal, request);
    this.answers.catch(error, host);
  }
}
