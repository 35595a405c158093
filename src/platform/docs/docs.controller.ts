import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../access/access.js';
import { NotFoundError } from '../errors/app-error.js';
import { AnyQuery } from '../http/handler-options.js';
import { docsAsset, docsPage } from './docs-page.js';

const ONE_HOUR = 'private, max-age=3600';
const ONE_DAY = 'public, max-age=86400';

/** Swagger UI for people who have logged in. It is a page, not part of the API that the contract describes. */
@ApiExcludeController()
@Controller('docs')
@AnyQuery()
@Public()
export class DocsController {
  @Get()
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!request.caller) void reply.redirect('/login?next=/docs', 303);
    else void reply.type('text/html; charset=utf-8').send(docsPage(request.caller.name));
  }

  /** `/docs/` with a slash, as people type it. Nest takes one slash off the end of a path. */
  @Get('//')
  pageWithSlash(@Res() reply: FastifyReply): void {
    void reply.redirect('/docs', 303);
  }

  @Get(':asset')
  asset(
    @Param('asset') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    if (!request.caller) return void reply.redirect('/login?next=/docs', 303);
    const asset = docsAsset(name);
    if (!asset) throw new NotFoundError('Page');
    void reply.type(asset.type).header('cache-control', ONE_HOUR).send(asset.bytes);
  }
}

/** Browsers ask for the icon of a host on every page, whatever the page says. */
@ApiExcludeController()
@Controller('favicon.ico')
export class FaviconController {
  @Get()
  @Public()
  @AnyQuery()
  icon(@Res() reply: FastifyReply): void {
    const { type, bytes } = docsAsset('favicon-32x32.png')!;
    void reply.type(type).header('cache-control', ONE_DAY).send(bytes);
  }
}
