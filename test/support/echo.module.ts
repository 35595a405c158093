import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Module,
  Param,
  Post,
  Put,
  Query,
  Req,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { Public, Requires } from '../../src/platform/access/access.js';
import { Consumes } from '../../src/platform/http/handler-options.js';
import {
  Choice,
  Flag,
  Instant,
  JsonObject,
  Nested,
  NestedList,
  Text,
  WholeNumber,
} from '../../src/platform/validation/fields.js';
import { QueryInteger } from '../../src/platform/validation/query-fields.js';

class InnerDto {
  @Text({ max: 10 })
  readonly name: string;

  @WholeNumber({ optional: true, min: 0, max: 1000 })
  readonly count?: number;
}

class EchoDto {
  @Text({ optional: true })
  readonly text?: string;

  @JsonObject({ optional: true })
  readonly free?: Record<string, unknown>;

  @Nested(() => InnerDto, { optional: true })
  readonly inner?: InnerDto;

  @NestedList(() => InnerDto, { optional: true, maxItems: 3 })
  readonly list?: InnerDto[];

  @Flag({ optional: true })
  readonly flag?: boolean;

  @Instant({ optional: true })
  readonly at?: string;
}

class EchoQuery {
  @QueryInteger({ optional: true, min: 1, max: 100 })
  readonly page?: number;

  @Choice('EchoKind', ['a', 'b'], { optional: true })
  readonly kind?: string;

  @Text({ optional: true })
  readonly text?: string;
}

class FormDto {
  @Text()
  readonly name: string;
}

/** Routes that show the behaviour of the HTTP layer. */
@Controller('test-only')
@Public()
class EchoController {
  @Post('echo')
  @HttpCode(200)
  echo(@Body() body: EchoDto): unknown {
    return { body };
  }

  @Get('echo')
  query(@Query() query: EchoQuery): unknown {
    return { query };
  }

  @Put('echo/:id')
  bare(@Param('id') id: string): unknown {
    return { id };
  }

  @Delete('echo/:id')
  remove(@Param('id') id: string): unknown {
    return { id, deleted: true };
  }

  @Post('form')
  @Consumes('json-or-form')
  form(@Body() form: FormDto): unknown {
    return { form };
  }

  @Post('raw')
  @Consumes('raw')
  raw(@Req() request: FastifyRequest): unknown {
    return { bytes: request.received?.toString('hex') };
  }

  @Post('forbidden')
  @Requires('admin')
  forbidden(@Body() body: EchoDto): unknown {
    return { body };
  }

  @Get('slow/:ms')
  async slow(@Param('ms') ms: string): Promise<unknown> {
    await sleep(Number(ms));
    return { waited: Number(ms) };
  }

  @Get('failing')
  failing(): never {
    throw new Error('a secret from deep inside');
  }

  @Get('client')
  client(@Req() request: FastifyRequest): unknown {
    return { ip: request.ip, protocol: request.protocol, host: request.host };
  }
}

@Module({ controllers: [EchoController] })
export class EchoModule {}

/** Value for `undocumented` in startTestApp. */
export const ECHO_PATHS = /^\/test-only\//;
