import { Controller, Get, Module, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Public } from '../../src/platform/access/access.js';
import { RawAnswer } from '../../src/platform/http/answer.js';
import { takeViolations } from '../support/contract-check-violations.js';
import { startTestApp } from '../support/test-app.js';
import { useStarted } from '../support/use-started.js';

@Controller('test-only')
class WrongController {
  @Get()
  @Public()
  @RawAnswer()
  answer(): object {
    return { not: 'in the document' };
  }

  @Get('hijacked')
  @Public()
  hijacked(@Res() reply: FastifyReply): void {
    reply.hijack();
    reply.raw.writeHead(200, { 'Content-Type': 'text/plain' });
    reply.raw.end('past Nest');
  }
}

@Module({ controllers: [WrongController] })
class WrongModule {}

describe('a test app', () => {
  const app = useStarted(() => startTestApp({ modules: [WrongModule] }));

  it('fails on a response that is not in the contract, even if the framework did not send the response', async () => {
    await expect(app.get('/test-only')).rejects.toThrow(
      /GET \/test-only broke the contract[^]*the document does not have/,
    );
    await (await fetch(`${app.url}/test-only/hijacked`)).text();
    expect(takeViolations().join('\n')).toMatch(/hijacked broke[^]*past Nest/);
    expect((await app.get('/live')).status).toBe(200);
  });
});
