import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Public } from '../access/access.js';
import { NotFoundError } from '../errors/app-error.js';
import { AnyQuery } from '../http/handler-options.js';
import { SIGN } from '../http/page-look.js';
import { sendFile, StaticFile } from '../http/static-file.js';
import { docsAsset } from './docs-assets.js';
import { docsPage } from './docs-page.js';

const FOR_GOOD = 'private, max-age=31536000, immutable';
const ASK_AGAIN = 'private, no-cache';
const ONE_DAY = 'public, max-age=86400';

/** Swagger UI for people who have logged in. It is a page, not part of the API that the contract describes. */
@ApiExcludeController()
@Controller('docs')
@AnyQuery()
@Public()
export class DocsController {
  @Get()
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    // The query says what to show, for links in messages.
    const query = encodeURIComponent(new URL(request.url, 'http://this.host').search);
    if (!request.caller) void reply.redirect(`/login?next=/docs${query}`, 303);
    else void reply.type('text/html; charset=utf-8').send(docsPage(request.caller));
  }

  /** `/docs/` with a slash, as people type it. Nest takes one slash off the end of a path. */
  @Get('//')
  pageWithSlash(@Res() reply: FastifyReply): void {
    void reply.redirect('/docs', 303);
  }

  @Get(':version/:asset')
  async asset(
    @Param('version') version: string,
    @Param('asset') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (!request.caller) return void reply.redirect('/login?next=/docs', 303);
    const asset = docsAsset(version, name);
    if (!asset) throw new NotFoundError('Page');
    await sendFile(request, reply, asset.file, asset.isOfThisVersion ? FOR_GOOD : ASK_AGAIN);
  }
}

/** Browsers ask for the icon of a host on every page, whatever the page says. */
@ApiExcludeController()
@Controller('favicon.ico')
export class FaviconController {
  private readonly icon = new StaticFile('image/svg+xml', Buffer.from(SIGN));

  @Get()
  @Public()
  @AnyQuery()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    await sendFile(request, reply, this.icon, ONE_DAY);
  }
}
