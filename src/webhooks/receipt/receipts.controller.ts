import { Controller, Get, Header, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { ApiExcludeEndpoint, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Allow, Public } from '../../platform/access/access.js';
import { RawAnswer } from '../../platform/http/answer.js';
import { AnyQuery, BodyUpTo, Consumes } from '../../platform/http/handler-options.js';
import { Limited } from '../../platform/limits/limits.js';
import { ApiAnswer, ApiErrors, Operation } from '../../platform/openapi/answers.js';
import {
  OKTA_CHALLENGE,
  OKTA_VERIFICATION_TYPE,
  OktaVerification,
  WithOktaChallenge,
} from '../signatures/okta-verification.js';
import {
  AcceptedReceiptDto,
  ApiDelivery,
  QueuedReceiptDto,
  WebhookVerificationDto,
} from './receipt.dto.js';
import { RECEIPT_REFUSALS } from './receipt.js';
import { WebhookReceipts } from './webhook-receipts.js';

const type = {
  name: 'WebhookReceipt',
  types: [AcceptedReceiptDto, QueuedReceiptDto],
  by: { field: 'status', words: { accepted: AcceptedReceiptDto, queued: QueuedReceiptDto } },
};
const [STORED, QUEUED] = [
  'The event and its incident are stored.',
  'The event is stored; a worker creates its incident. Or the body is stored and has no events, like a page of a poller without news.',
];

@ApiTags('Webhooks')
@Controller('api/webhooks')
export class ReceiptsController {
  constructor(
    private readonly receipts: WebhookReceipts,
    private readonly okta: OktaVerification,
  ) {}

  /** The contract describes this route at getWebhookSource, which has the same path and method. */
  @Get(':source')
  @WithOktaChallenge()
  @Public()
  @AnyQuery()
  @Limited('none')
  @RawAnswer()
  @Header('content-type', OKTA_VERIFICATION_TYPE)
  @ApiExcludeEndpoint()
  async verify(
    @Param('source') source: string,
    @Req() { headers, ip }: FastifyRequest,
  ): Promise<WebhookVerificationDto> {
    const challenge = String(headers[OKTA_CHALLENGE]);
    return { verification: await this.okta.answer(source, challenge, ip) };
  }

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
    'The response follows the storage of the event. After 429, 500 or 503, or without a response, send the same body again: a stored event gets the same response again.',
  )
  @ApiDelivery()
  @ApiAnswer({ status: 200, description: STORED, type, raw: true })
  @ApiAnswer({ status: 202, description: QUEUED, type, raw: true })
  @ApiErrors(...RECEIPT_REFUSALS)
  async receive(
    @Req() { verifiedReceipt }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AcceptedReceiptDto | QueuedReceiptDto> {
    const receipt = await this.receipts.receive(verifiedReceipt!);
    if (receipt.status === 'accepted') return AcceptedReceiptDto.fromAll(receipt.events);
    void reply.status(202);
    return QueuedReceiptDto.of(receipt);
  }
}
