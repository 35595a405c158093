import { Controller, Headers, HttpCode, Module, Post } from '@nestjs/common';
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Allow } from '../../src/platform/access/access.js';
import { RawAnswer } from '../../src/platform/http/answering-adapter.js';
import { AnyQuery, Consumes } from '../../src/platform/http/handler-options.js';
import { Limited } from '../../src/platform/limits/request-limits.js';
import { readEventJson } from '../../src/webhooks/reading/event-json.js';
import { Verified, type VerifiedReceipt } from '../../src/webhooks/signatures/hmac.guard.js';

/** What a receipt goes through before anything is made of it, shown by a route that does nothing else. */
@Controller('api/webhooks-probe')
class WebhookProbeController {
  @Post(':source')
  @HttpCode(200)
  @Allow('signature')
  @Consumes('raw')
  @AnyQuery()
  @Limited('none')
  @RawAnswer()
  async receive(
    @Verified() { source, bytes }: VerifiedReceipt,
    @Headers('x-probe-wait-ms') waitMs?: string,
  ): Promise<unknown> {
    if (waitMs) await sleep(Number(waitMs));
    return {
      fields: Object.keys(source),
      source: source.source,
      sha256: hash('sha256', bytes),
      event: readEventJson(bytes),
    };
  }
}

@Module({ controllers: [WebhookProbeController] })
export class WebhookProbeModule {}

/** For `undocumented` of startTestApp. */
export const WEBHOOK_PROBE_PATHS = /^\/api\/webhooks-probe\//;
