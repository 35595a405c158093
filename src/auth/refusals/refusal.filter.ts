import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ErrorFilter } from '../../platform/http/error.filter.js';
import { CallerRefusedError, StrangerRefusedError } from '../auth.errors.js';
import { Refusals } from './refusals.js';

/**
 * The one place where the refusal of a request becomes an audit record, whether a guard, a service or a transaction
 * found it: they throw, and need to know nothing of the request. Failed logins are recorded by PasswordThrottle, which
 * knows why they failed.
 */
@Injectable()
@Catch(CallerRefusedError, StrangerRefusedError)
export class RefusalFilter implements ExceptionFilter {
  private readonly answers = new ErrorFilter();

  constructor(private readonly refusals: Refusals) {}

  /**
   * A known caller is answered after the record is written, so that whoever has the answer finds it. For strangers nobody
   * waits. A record that cannot be written is logged.
   */
  async catch(
    error: CallerRefusedError | StrangerRefusedError,
    host: ArgumentsHost,
  ): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    if (error instanceof CallerRefusedError) await this.refusals.ofCaller(error.refusal, request);
    else this.refusals.ofStranger(error.refusal, request);
    this.answers.catch(error, host);
  }
}
