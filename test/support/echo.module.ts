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
import { IsBoolean, IsIn, IsInt, IsString, Max, MaxLength, Min } from 'class-validator';
import type { FastifyRequest } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { Public, Requires } from '../../src/platform/access/access.js';
import { BodyUpTo, Consumes } from '../../src/platform/http/handler-options.js';
import {
  IsIsoTime,
  IsJsonObject,
  NestedList,
  NestedObject,
  Optional,
  QueryBoolean,
  QueryInteger,
} from '../../src/platform/validation/decorators.js';

class InnerDto {
  @IsString()
  @MaxLength(10)
  readonly name: string;

  @Optional()
  @IsInt()
  @Min(0)
  @Max(1000)
  readonly count?: number;
}

class EchoDto {
  @Optional()
  @IsString()
  readonly text?: string;

  @Optional()
  @IsJsonObject()
  readonly free?: Record<string, unknown>;

  @Optional()
  @NestedObject(() => InnerDto)
  readonly inner?: InnerDto;

  @Optional()
  @NestedList(() => InnerDto, 3)
  readonly list?: InnerDto[];

  @Optional()
  @IsBoolean()
  readonly flag?: boolean;

  @Optional()
  @IsIsoTime()
  readonly at?: string;
}

class EchoQuery {
  @Optional()
  @QueryInteger(1, 100)
  readonly page?: number;

  @Optional()
  @QueryBoolean()
  readonly flag?: boolean;

  @Optional()
  @IsIn(['a', 'b'])
  readonly kind?: string;

  @Optional()
  @IsString()
  readonly text?: string;
}

class FormDto {
  @IsString()
  readonly name: string;
}

/** What the edge does, shown by routes that do nothing else. */
@Controller('test-only')
@Public()
@BodyUpTo('limit')
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

/** For `undocumented` of startTestApp. */
export const ECHO_PATHS = /^\/test-only\//;
