import { Injectable } from '@nestjs/common';
import type { Departure } from './gate.js';
import { type MailReply, type MailServer, type OutboundMail, SmtpSession } from './smtp-session.js';
import { traced } from '../tracing/tracing.js';
import { Targets } from './targets.js';

const TIMEOUT_MS = 15_000;
const READY: MailReply = { code: 220, text: '' };

/**
 * The one way out to mail servers, as OutboundHttp is to services: the name is resolved once, every address of it has to be
 * allowed, the connection goes to just those, certificates are always verified, and time and answers are bounded.
 * UnreachableError says that no mail was handed over, OutcomeUnknownError that one may have been.
 */
@Injectable()
export class OutboundSmtp {
  constructor(private readonly targets: Targets) {}

  /** Hands one mail over. The gate is asked when the server would take it, before it hears of any sender or recipient. */
  async deliver(server: MailServer, mail: OutboundMail, departure: Departure): Promise<MailReply> {
    const session = new SmtpSession(server, { timeoutMs: TIMEOUT_MS, signal: departure.signal });
    const attributes = { 'server.address': server.host, 'server.port': server.port };
    return await traced(
      () => ({ name: `SMTP ${server.host}`, kind: 'client', attributes }),
      async (span) => {
        const reply = await session.run(this.targets.pin(server.host), async () => {
          await departure.leave();
          return await session.send(mail);
        });
        span?.note({ 'smtp.response.status_code': reply.code });
        return reply;
      },
    );
  }

  /** Connects and logs in, and hands nothing over. */
  async greet(server: MailServer, timeoutMs: number): Promise<MailReply> {
    const session = new SmtpSession(server, { timeoutMs });
    return await session.run(this.targets.pin(server.host), async () => READY);
  }
}
