import { Controller, HttpCode, Post, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Allow } from '../../platform/access/access.js';
import { RawAnswer } from '../../platform/http/answering-adapter.js';
import { AnyQuery, BodyUpTo, Consumes } from '../../platform/http/handler-options.js';
import { Limited } from '../../platform/limits/limited.js';
import { ApiAnswer, ApiErrors, Operation } from '../../platform/openapi/answers.js';
import { Verified, type VerifiedReceipt } from '../signatures/verified-receipt.js';
import { ApiDelivery } from './receipt-contract.js';
import { AcceptedReceiptDto, QueuedReceiptDto } from './receipt.dto.js';
import { RECEIPT_REFUSALS } from './receipt.errors.js';
import { WebhookReceipts } from './webhook-receipts.js';

const RECEIPT = {
  name: 'WebhookReceipt',
  types: [AcceptedReceiptDto, QueuedReceiptDto],
  by: { field: 'status', words: { accepted: AcceptedReceiptDto, queued: QueuedReceiptDto } },
};

/** Where tools deliver their events. */
@ApiTags('Webhooks')
@Controller('api/webhooks')
export class ReceiptsController {
  constructor(private readonly receipts: WebhookReceipts) {}

  @Post(':source')
  @HttpCode(200)
  @Allow('signature')
  @Consumes('raw')
  @BodyUpTo('limit')
  @AnyQuery()
  @Limited('none')
  @RawAnswer()
  @Operation(
    'receiveWebhook',
    'Deliver an event',
    'Nothing is answered before it is stored. A sender that gets 429, 500 or 503, or no answer, sends the same again: what was stored before is answered as the first time.',
  )
  @ApiDelivery()
  @ApiAnswer({
    status: 200,
    description: 'The event and its incident are stored.',
    type: RECEIPT,
    raw: true,
  })
  @ApiAnswer({
    status: 202,
    description: 'The event is stored; a worker makes its incident.',
    type: RECEIPT,
    raw: true,
  })
  @ApiErrors(...RECEIPT_REFUSALS)
  async receive(
    @Verified() verified: VerifiedReceipt,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedReceiptDto | QueuedReceiptDto> {
    const receipt = await this.receipts.receive(verified);
    if (receipt.status === 'accepted') return AcceptedReceiptDto.fromAll(receipt.events);
    void reply.status(202);
    return QueuedReceiptDto.from(receipt.id);
  }
}
