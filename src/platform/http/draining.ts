import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';

/** Set when the service was told to stop: readiness fails from then on, while running requests finish. */
@Injectable()
export class Draining {
  private flag = false;

  get begun(): boolean {
    return this.flag;
  }

  begin(): void {
    this.flag = true;
  }
}

/** A client that keeps its connection would hold the exit, or lose its next request on it: each answer ends it. */
export function installDraining(instance: FastifyInstance, draining: Draining): void {
  instance.addHook('onSend', (_request, reply, payload, done) => {
    if (draining.begun) reply.header('connection', 'close');
    done(null, payload);
  });
}
