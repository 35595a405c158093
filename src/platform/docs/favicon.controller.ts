import { Controller, Get, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Public } from '../access/access.js';
import { AnyQuery } from '../http/handler-options.js';
import { docsAsset } from './docs-assets.js';

/** Browsers ask for it on every page, whatever the page says. */
@ApiExcludeController()
@Controller('favicon.ico')
export class FaviconController {
  @Get()
  @Public()
  @AnyQuery()
  icon(@Res() reply: FastifyReply): void {
    const { type, bytes } = docsAsset('favicon-32x32.png')!;
    void reply.type(type).header('cache-control', 'public, max-age=86400').send(bytes);
  }
}
