import {
  applyDecorators,
  Body,
  Delete,
  Get,
  HttpCode,
  Param,
  Post,
  Put,
  Query as InQuery,
  Res,
  type Type,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import type { Role } from '../platform/access/roles.js';
import { IfMatch, type IfMatchCondition, setEtag } from '../platform/http/etag.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  ApiIfMatch,
  DeletedResourceDto,
  ETAG_HEADER,
  Operation,
} from '../platform/openapi/answers.js';
import { ListAnswer, PageQueryDto, SortWords } from '../platform/paging/page.js';
import {
  type ShownTarget,
  type ShownType,
  type TargetInput,
  type TargetTest,
  type TargetUpdate,
} from './target-contract.js';
import { TARGET_SORTS, type TargetRow, type TargetSort } from './target-rows.js';
import type { Changed, TargetsService } from './targets-service.js';

interface Definition<Row, Input, Update, Shown> {
  readonly name: string;
  readonly input: Type<Input>;
  readonly update: Type<Update>;
  readonly shown: Type<ShownTarget>;
  readonly changed?: Type<Shown>;
  readonly test: Type<TargetTest>;
  readonly type: Type<ShownType>;
  readonly readers?: Role;
  readonly hasVersions?: true;
  readonly effects: Readonly<Record<'create' | 'update' | 'delete' | 'test', string>>;
  present(row: Changed<Row>): Shown;
  presentTypes(): ShownType[];
}

/** Sets the parameter classes for the validation pipe and the contract. TypeScript cannot derive them here. */
const Takes = (...types: readonly Type[]) => Reflect.metadata('design:paramtypes', types);

export function TargetController<
  Row extends TargetRow,
  Input extends TargetInput,
  Update extends TargetUpdate,
  Shown extends object,
>(definition: Definition<Row, Input, Update, Shown>) {
  const { name, input, shown, changed = shown, hasVersions, effects } = definition;
  const present = (row: Changed<Row>) => definition.present(row);
  const noun = name.replace(/(?!^)[A-Z]/g, ' $&').toLowerCase();
  const headers = hasVersions && ETAG_HEADER;
  const [Read, Write] = [Requires(definition.readers ?? 'admin'), Requires('admin')];
  const Versioned = hasVersions
    ? applyDecorators(ApiIfMatch(), ApiErrors('precondition_failed'))
    : applyDecorators();

  class Query extends PageQueryDto {
    @SortWords(`${name}Sort`, TARGET_SORTS)
    readonly sort: readonly TargetSort[] = ['-created_at'];
  }

  abstract class Targets {
    abstract readonly targets: TargetsService<Row, Input, Update>;

    @Get()
    @Read
    @Operation(`list${name}s`, `List the ${noun}s`, 'Newest first, without secrets.')
    @ApiAnswer(200, `The ${noun}s.`, shown, { list: true })
    async list(@InQuery() query: Query): Promise<ListAnswer<Shown>> {
      return ListAnswer.of(await this.targets.rows.list(query, query.sort), query, present);
    }

    @Get('types')
    @Read
    @Operation(`list${name}Types`, `List the types of ${noun}s`, 'With the schema of `config`.')
    @ApiAnswer(200, 'All types.', definition.type, { catalogue: true })
    listTypes(): ShownType[] {
      return definition.presentTypes();
    }

    @Post()
    @Write
    @Operation(
      `create${name}`,
      `Create a ${noun}`,
      `The list of types describes the \`config\` of each type. Secrets can be written but not read. ${effects.create}`,
    )
    @ApiAnswer(201, `The ${noun}.`, changed)
    @ApiErrorMeanings({
      conflict: 'The name is taken, or a request with the same Idempotency-Key is still under way.',
    })
    @Takes(input)
    async create(
      @Body() body: Input,
      @CurrentPrincipal() caller: Principal,
      @Idempotent() idempotency: Idempotency,
    ): Promise<Shown> {
      const remember = idempotency.remember(present, { secret: true });
      return present(await this.targets.create(caller, body, remember));
    }

    @Get(':id')
    @Read
    @Operation(`get${name}`, `Read a ${noun}`, '`secrets_set` has the names of its secrets.')
    @ApiAnswer(200, `The ${noun}.`, shown, { headers })
    async get(
      @Param('id') id: string,
      @Res({ passthrough: true }) reply: FastifyReply,
    ): Promise<Shown> {
      return this.show(reply, await this.targets.rows.get(id));
    }

    @Put(':id')
    @Write
    @Operation(
      `update${name}`,
      `Change a ${noun}`,
      `Absent fields do not change, including secrets. ${effects.update}`,
    )
    @Versioned
    @ApiAnswer(200, `The changed ${noun}.`, changed, { headers })
    @ApiErrorMeanings({ conflict: 'The name is taken.' })
    @Takes(String, definition.update)
    async update(
      @Param('id') id: string,
      @Body() body: Update,
      @IfMatch() condition: IfMatchCondition,
      @CurrentPrincipal() caller: Principal,
      @Res({ passthrough: true }) reply: FastifyReply,
    ): Promise<Shown> {
      const row = await this.targets.update(caller, id, body, hasVersions && condition);
      return this.show(reply, row);
    }

    @Delete(':id')
    @Write
    @Operation(`delete${name}`, `Delete a ${noun}`, effects.delete)
    @Versioned
    @ApiAnswer(200, `The ${noun} is deleted.`, DeletedResourceDto)
    async delete(
      @Param('id') id: string,
      @IfMatch() condition: IfMatchCondition,
      @CurrentPrincipal() caller: Principal,
    ): Promise<DeletedResourceDto> {
      await this.targets.delete(caller, id, hasVersions && condition);
      return { id, deleted: true };
    }

    @Post(':id/test')
    @Write
    @HttpCode(200)
    @Operation(`test${name}`, `Test a ${noun}`, effects.test)
    @ApiAnswer(200, 'Result of the test.', definition.test)
    async test(
      @Param('id') id: string,
      @CurrentPrincipal() caller: Principal,
      @Idempotent() idempotency: Idempotency,
    ): Promise<TargetTest> {
      return await this.targets.test(caller, id, idempotency);
    }

    private show(reply: FastifyReply, row: Changed<Row>): Shown {
      if (hasVersions) setEtag(reply, row.version);
      // A 304 would hide the status, which changes without a new version.
      delete reply.request.headers['if-none-match'];
      return present(row);
    }
  }
  return Targets;
}
