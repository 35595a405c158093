import { Global, Module } from '@nestjs/common';
import { OutboundHttp } from './outbound-http.js';
import { OutboundSmtp } from './outbound-smtp.js';
import { Resolver, Targets } from './targets.js';

@Global()
@Module({
  providers: [Resolver, Targets, OutboundHttp, OutboundSmtp],
  exports: [Targets, OutboundHttp, OutboundSmtp],
})
export class NetModule {}
