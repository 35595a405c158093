import { Global, Module } from '@nestjs/common';
import { OutboundHttp } from './outbound-http.js';
import { Resolver, Targets } from './targets.js';

@Global()
@Module({
  providers: [Resolver, Targets, OutboundHttp],
  exports: [Targets, OutboundHttp],
})
export class NetModule {}
