import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { DeletedResourceDto } from '../platform/http/deleted.dto.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, ApiErrorMeanings, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import {
  ConnectorDto,
  ConnectorHealthDto,
  ConnectorQueryDto,
  ConnectorInputDto,
  ConnectorUpdateDto,
  CONNECTOR_REQUEST,
  ConnectorTestDto,
  ConnectorTypeDto,
  shownConnector,
  shownHealth,
} from './connectors.dto.js';
import { ApiRequestByType, shownType } from '../targets/target-contract.js';
import { ConnectorChecks } from './connector-checks.js';
import { CONNECTOR_TYPES } from './connector-registry.js';
import { actionsOf, type TestResult } from './connector-type.js';
import { ConnectorsRepository } from './connectors.repository.js';
import { ConnectorsService } from './connectors.service.js';

@ApiTags('Connectors')
@Controller('api/connectors')
export class ConnectorsController {
  constructor(
    private readonly rows: ConnectorsRepository,
    private readonly connectors: ConnectorsService,
    private readonly checks: ConnectorChecks,
  ) {}

  @Get('types')
  @Requires('viewer')
  @Operation(
    'listConnectorTypes',
    'List the types of connectors',
    'Lists the configuration and the actions of each type.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All types, with the schema of their configuration and their actions.',
    type: ConnectorTypeDto,
    catalogue: true,
  })
  listTypes(): ConnectorTypeDto[] {
    return CONNECTOR_TYPES.all.map((type) => ({ ...shownType(type), actions: actionsOf(type) }));
  }

  @Get('health')
  @Requires('viewer')
  @Operation(
    'getConnectorHealth',
    'Read the health of the connectors',
    'Enabled connectors are checked regularly. Returns the last results without waiting.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All connectors, with the result of their last check.',
    type: ConnectorHealthDto,
    catalogue: true,
  })
  async health(): Promise<ConnectorHealthDto[]> {
    const rows = await this.rows.all();
    return rows.map((row) => shownHealth(row, rows));
  }

  @Post(':id/test')
  @HttpCode(200)
  @Requires('admin')
  @Operation(
    'testConnector',
    'Test a connector',
    'The kill switch does not stop a test, because it has no effect.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Result of the test: `success` says whether the connector answers.',
    type: ConnectorTestDto,
  })
  test(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ConnectorTestDto> {
    return this.checks.test(
      caller,
      id,
      idempotency.remember((result: TestResult) => result),
    );
  }

  @Get()
  @Requires('viewer')
  @Operation('listConnectors', 'List the connectors', 'Newest first, without their secrets.')
  @ApiAnswer({ status: 200, description: 'The connectors.', type: ConnectorDto, list: true })
  async list(@Query() query: ConnectorQueryDto): Promise<ListAnswer<ConnectorDto>> {
    return ListAnswer.of(await this.rows.list(query, query.sort), query, shownConnector);
  }

  @Post()
  @Requires('admin')
  @Operation(
    'createConnector',
    'Set up a connector',
    '`GET /api/connectors/types` describes the `config` of each type. Creating a connector sends nothing: `POST /api/connectors/{id}/test` tests it, enabled or not.\n\n' +
      'The sandbox serves only while no connector of another type exists, enabled or not. After that, actions that no real connector provides fail with `no_connector`.',
  )
  @ApiRequestByType(CONNECTOR_REQUEST)
  @ApiAnswer({ status: 201, description: 'The connector.', type: ConnectorDto })
  @ApiErrorMeanings({
    conflict:
      'A connector of that name exists, or a request with the same Idempotency-Key is in progress.',
  })
  async create(
    @Body() body: ConnectorInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ConnectorDto> {
    const remember = idempotency.remember(shownConnector);
    return shownConnector(await this.connectors.create(caller, body, remember));
  }

  @Get(':id')
  @Requires('viewer')
  @Operation(
    'getConnector',
    'Read a connector',
    'Secrets are never returned: `secrets_set` lists their names.',
  )
  @ApiAnswer({ status: 200, description: 'The connector.', type: ConnectorDto })
  async get(@Param('id') id: string): Promise<ConnectorDto> {
    return shownConnector(await this.rows.get(id));
  }

  @Put(':id')
  @Requires('admin')
  @Operation(
    'updateConnector',
    'Change a connector',
    'Absent fields do not change, including secrets. If secrets would be sent to another host, they must be given again.',
  )
  @ApiAnswer({ status: 200, description: 'The connector after the change.', type: ConnectorDto })
  @ApiErrorMeanings({ conflict: 'Another connector of that name exists.' })
  async update(
    @Param('id') id: string,
    @Body() body: ConnectorUpdateDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<ConnectorDto> {
    return shownConnector(await this.connectors.update(caller, id, body));
  }

  @Delete(':id')
  @Requires('admin')
  @Operation(
    'deleteConnector',
    'Delete a connector',
    'Actions that only this connector provides fail from now on.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The connector and its secrets are deleted.',
    type: DeletedResourceDto,
  })
  async delete(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.connectors.delete(caller, id);
    return { id, deleted: true };
  }
}
