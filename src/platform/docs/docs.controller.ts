import {
  APPROVAL_LEVELS,
  approvalLevelOf,
  levelReaches,
  ROLES,
  type Role,
} from '../access/roles.js';
import { COLOURS, DARK_COLOURS, escapeHtml, PRODUCT, SIGN } from '../http/page-look.js';
import { assetAddress, docsAsset } from './docs-assets.js';
import { Controller, Get, Module, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Page, Public } from '../access/access.js';
import { NotFoundError } from '../errors/app-error.js';
import { AnyQuery } from '../http/handler-options.js';
import { sendFile, StaticFile } from '../http/answer-transport.js';
import { guideIndex, guideNamed } from './guides.js';
import { ServiceIndexController } from './service-index.controller.js';

/** Page with Swagger UI. It loads files only from this host, as the content security policy requires. Its scripts are in `browser/`. */
export function docsPage({ name, role }: { readonly name: string; readonly role: Role }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API - ${PRODUCT}</title>
    <link rel="icon" type="image/svg+xml" href="/favicon.ico">
    <link rel="stylesheet" href="${assetAddress('swagger-ui.css')}">
    <link rel="stylesheet" href="${assetAddress('page.css')}">
    <style>${COLOURS}${DARK_COLOURS}</style>
  </head>
  <body>
    <header class="its-bar">
      <h1>${SIGN}${PRODUCT}</h1>
      <span>You are logged in as <strong>${escapeHtml(name)}</strong>, role <strong>${role}</strong></span>
      <a href="/openapi.json">OpenAPI</a>
      <a href="/docs/guides">Guides</a>
      <a href="/login/password">Change password</a>
      <form method="post" action="/logout"><button type="submit">Log out</button></form>
    </header>
    <section id="kill-switch" aria-label="Kill switch" aria-live="polite" hidden></section>
    <section id="approvals" aria-label="Waiting for approval" data-levels="${levelsOf(role)}" hidden></section>
    <main id="swagger-ui" data-role="${role}" data-roles="${ROLES.join(' ')}"></main>
    <noscript><p>This page needs JavaScript. The document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</p></noscript>
    <script src="${assetAddress('swagger-ui-bundle.js')}"></script>
    <script type="module" src="${assetAddress('start.mjs')}"></script>
  </body>
</html>
`;
}

/** Approval levels at which the role may approve. */
function levelsOf(role: Role): string {
  const own = approvalLevelOf(role);
  return APPROVAL_LEVELS.filter((level) => level !== 'none' && levelReaches(own, level)).join();
}

const FOR_GOOD = 'private, max-age=31536000, immutable';
const ASK_AGAIN = 'private, no-cache';
const ONE_DAY = 'public, max-age=86400';

/** Swagger UI for people who have logged in. It is a page, not part of the API that the contract describes. */
@ApiExcludeController()
@Controller('docs')
@AnyQuery()
@Page()
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

  /** With and without a slash: Nest takes one slash off the end of a path. */
  @Get(['guides', 'guides//'])
  guides(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!request.caller) return void reply.redirect('/login?next=/docs/guides', 303);
    sendFile(reply, guideIndex(), ASK_AGAIN);
  }

  @Get('guides/:name')
  guide(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    if (!request.caller) {
      return void reply.redirect(`/login?next=/docs/guides/${encodeURIComponent(name)}`, 303);
    }
    const guide = guideNamed(name);
    if (!guide) throw new NotFoundError('Page');
    sendFile(reply, guide, ASK_AGAIN);
  }

  @Get(':version/:asset')
  asset(
    @Param('version') version: string,
    @Param('asset') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    if (!request.caller) return void reply.redirect('/login?next=/docs', 303);
    const asset = docsAsset(version, name);
    if (!asset) throw new NotFoundError('Page');
    sendFile(reply, asset.file, asset.isOfThisVersion ? FOR_GOOD : ASK_AGAIN);
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
  show(@Res() reply: FastifyReply): void {
    sendFile(reply, this.icon, ONE_DAY);
  }
}

@Module({ controllers: [DocsController, FaviconController, ServiceIndexController] })
export class DocsModule {}
