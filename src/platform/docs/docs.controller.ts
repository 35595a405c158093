import { Controller, Get, Headers, Module, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController, ApiExcludeEndpoint, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { globSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { Page, Public } from '../access/access.js';
import {
  APPROVAL_LEVELS,
  approvalLevelOf,
  levelReaches,
  ROLES,
  type Role,
} from '../access/roles.js';
import { version } from '../config/process.js';
import { Settings } from '../config/settings.js';
import { NotFoundError } from '../errors/app-error.js';
import { JSON_UTF8, sendFile, type StaticFile, staticFile } from '../http/answer.js';
import { AnyQuery } from '../http/handler-options.js';
import { COLOURS, escapeHtml, PRODUCT, SIGN } from '../http/page-look.js';
import { ApiAnswer, ETAG_HEADER, Operation } from '../openapi/answers.js';
import { Text } from '../validation/fields.js';

const FILES = [
  [dirname(require.resolve('swagger-ui-dist/package.json')), 'swagger-ui{-bundle.js,.css}'],
  [join(__dirname, 'browser'), '*'],
  [join(__dirname, '../../../docs'), '*.md'],
] as const;
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  // Browsers show plain text, but download Markdown.
  '.md': 'text/plain; charset=utf-8',
};

let files: ReadonlyMap<string, StaticFile> | undefined;

/** Reads the files at the first request, because most processes never show the page. */
function pageFiles(): ReadonlyMap<string, StaticFile> {
  const read = (path: string) => staticFile(TYPES[extname(path)]!, readFileSync(path));
  return (files ??= new Map(
    FILES.flatMap(([cwd, names]) => {
      const found = globSync(names, { cwd }).sort();
      return found.map((name) => [name, read(join(cwd, name))] as const);
    }),
  ));
}

/** Page with Swagger UI. It loads files only from this host, as the content security policy requires. */
export function docsPage({ name, role }: { readonly name: string; readonly role: Role }): string {
  const guides = [...pageFiles().keys()].filter((file) => file.endsWith('.md'));
  const links = guides.map((file) => linkToGuide(file.slice(0, -3)));
  const own = approvalLevelOf(role);
  const levels = APPROVAL_LEVELS.filter((level) => level !== 'none' && levelReaches(own, level));
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API - ${PRODUCT}</title>
    <link rel="icon" type="image/svg+xml" href="/favicon.ico">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
    <style>${COLOURS}</style>
  </head>
  <body>
    <header class="its-bar">
      <h1>${SIGN}${PRODUCT}</h1>
      <span>You are logged in as <strong>${escapeHtml(name)}</strong>, role <strong>${role}</strong></span>
      <a href="/openapi.json">OpenAPI</a>
      <a href="/login/password">Change password</a>
      <form method="post" action="/logout"><button type="submit">Log out</button></form>
    </header>
    <nav class="its-guides" aria-label="Guides">Guides: ${links.join(' · ')}</nav>
    <section id="approvals" aria-label="Waiting for approval" data-levels="${levels.join()}" hidden></section>
    <main id="swagger-ui" data-role="${role}" data-roles="${ROLES.join(' ')}"></main>
    <noscript><p>This page needs JavaScript. The document itself is at <a href="/openapi.yaml">/openapi.yaml</a>.</p></noscript>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script type="module" src="/docs/start.mjs"></script>
  </body>
</html>
`;
}

const linkToGuide = (name: string): string => `<a href="/docs/guides/${name}">${name}</a>`;

@ApiExcludeController()
@Controller('docs')
@AnyQuery()
@Page()
export class DocsController {
  @Get()
  page(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    // Keeps the query, because links in messages use the query to select the content of the page.
    const query = encodeURIComponent(new URL(request.url, 'http://this.host').search);
    if (!request.caller) void reply.redirect(`/login?next=/docs${query}`, 303);
    else void reply.type('text/html; charset=utf-8').send(docsPage(request.caller));
  }

  /** Redirects `/docs/`, which people type. Nest removes one slash from the end of a path. */
  @Get('//')
  pageWithSlash(@Res() reply: FastifyReply): void {
    void reply.redirect('/docs', 303);
  }

  @Get([':name', 'guides/:name'])
  file(
    @Param('name') name: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): void {
    const isGuide = request.routeOptions.url!.includes('guides');
    const next = isGuide ? `/docs/guides/${encodeURIComponent(name)}` : '/docs';
    if (!request.caller) return void reply.redirect(`/login?next=${next}`, 303);
    const file = pageFiles().get(isGuide ? `${name}.md` : name);
    if (!file) throw new NotFoundError('Page');
    // Browsers must ask for a newer file each time, because a new release may change the files.
    sendFile(reply, file, 'private, no-cache');
  }
}

const CONTRACT = join(__dirname, '../../../openapi');

const ApiDocument = (contentType: string): MethodDecorator =>
  ApiAnswer(200, 'This document, compressed if the client accepts it.', undefined, {
    contentType,
    schema: { type: 'object', additionalProperties: true },
    headers: ETAG_HEADER,
  });

export class ServiceIndexDto {
  @Text({ description: 'Name of the service.' })
  readonly name = 'Incident Triage Service';

  @Text({ description: 'Version that is running, as in `/health`.' })
  readonly version = version;

  @Text({ description: 'Path of the API.' })
  readonly api = '/api';

  @Text({ description: 'Page with every operation, for people who have logged in.' })
  readonly docs = '/docs';

  @Text({ description: 'OpenAPI document, from which clients are generated.' })
  readonly openapi = '/openapi.json';

  @Text({ description: 'Health of the service.' })
  readonly health = '/health';
}

const VARY = {
  Vary: { description: 'Always `Accept`.', schema: { type: 'string' as const, example: 'Accept' } },
};

@ApiTags('System')
@Controller()
@Public()
@AnyQuery()
export class RootController {
  private readonly icon = staticFile('image/svg+xml', SIGN);
  private json?: StaticFile;
  private yaml?: StaticFile;

  constructor(private readonly settings: Settings) {}

  @Get('favicon.ico')
  @ApiExcludeEndpoint()
  showIcon(@Res() reply: FastifyReply): void {
    sendFile(reply, this.icon, 'public, max-age=86400');
  }

  @Get('openapi.json')
  @Operation(
    'getOpenApiJson',
    'Read this document as JSON',
    'The same for all callers. It changes only with a release.',
  )
  @ApiDocument('application/json')
  asJson(@Res() reply: FastifyReply): void {
    this.json ??= staticFile(JSON_UTF8, JSON.stringify(JSON.parse(this.read('openapi.json'))));
    sendFile(reply, this.json, 'no-cache');
  }

  @Get('openapi.yaml')
  @Operation(
    'getOpenApiYaml',
    'Read this document as YAML',
    'The OpenAPI document as a page for people.',
  )
  @ApiDocument('application/yaml')
  asYaml(@Res() reply: FastifyReply): void {
    this.yaml ??= staticFile('application/yaml; charset=utf-8', this.read('openapi.yaml'));
    sendFile(reply, this.yaml, 'no-cache');
  }

  @Get()
  @Operation(
    'getServiceIndex',
    'List the addresses of the service',
    'Redirects browsers, whose Accept prefers `text/html`, to the page `/docs`.',
  )
  @ApiAnswer(200, 'Paths of the parts of the service on this host.', ServiceIndexDto, {
    headers: VARY,
  })
  @ApiResponse({
    status: 303,
    description: 'Redirects a browser to `/docs`.',
    headers: {
      Location: { description: 'Always `/docs`.', required: true, schema: { type: 'string' } },
      ...VARY,
    },
  })
  index(
    @Headers('accept') accept: string | undefined,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): ServiceIndexDto | undefined {
    void reply.header('vary', 'Accept');
    if (!prefersHtml(accept)) return new ServiceIndexDto();
    void reply.redirect('/docs', 303);
    return undefined;
  }

  /** Inserts the URL of this service, because generated clients call the URL in the document. */
  private read(name: string): string {
    const { publicUrl, port } = this.settings;
    const url = publicUrl?.replace(/\/+$/, '') ?? `http://127.0.0.1:${port}`;
    const committed = readFileSync(join(CONTRACT, name), 'utf8');
    return committed.replace(/(?<=url"?: "?)http:\/\/127\.0\.0\.1:3000/, () => url);
  }
}

/** True if a browser opens a page: the request accepts HTML but not JSON. */
export function prefersHtml(accept = ''): boolean {
  return /\btext\/html\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept);
}

@Module({ controllers: [DocsController, RootController] })
export class DocsModule {}
