import { Body, Controller, Get, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, Operation, DeletedResourceDto } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import { shownType, type TargetTest, targetRoutes } from '../targets/target-contract.js';
import { CONNECTOR_TYPES } from './connector-registry.js';
import { actionsOf } from './connector-type.js';
import {
  CONNECTOR_REQUEST,
  ConnectorDto,
  ConnectorHealthDto,
  ConnectorInputDto,
  ConnectorQueryDto,
  ConnectorTestDto,
  ConnectorTypeDto,
  ConnectorUpdateDto,
  shownConnector,
  shownHealth,
} from './connectors.dto.js';
import { ConnectorsRepository } from './connectors.repository.js';
import { ConnectorsService } from './connectors.service.js';

const routes = targetRoutes({
  name: 'Connector',
  requests: CONNECTOR_REQUEST,
  shown: ConnectorDto,
  test: ConnectorTestDto,
  type: ConnectorTypeDto,
  readers: 'viewer',
  effects: {
    create:
      'Creating a connector sends nothing. The sandbox serves only while no connector of another type exists, enabled or not: then actions that no real connector provides fail with `no_connector`.',
    update: 'If secrets would be sent to another host, they must be given again.',
    delete: 'Actions that only this connector provides fail from now on.',
    test: 'The kill switch does not stop a test, because it has no effect.',
  },
});

@ApiTags('Connectors')
@Controller('api/connectors')
export class ConnectorsController {
  constructor(
    private readonly rows: ConnectorsRepository,
    private readonly connectors: ConnectorsService,
  ) {}

  @routes.types
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

  @routes.test
  test(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ConnectorTestDto> {
    const remember = idempotency.remember((result: TargetTest) => result);
    return this.connectors.test(caller, id, remember);
  }

  @routes.list
  async list(@Query() query: ConnectorQueryDto): Promise<ListAnswer<ConnectorDto>> {
    return ListAnswer.of(await this.rows.list(query, query.sort), query, shownConnector);
  }

  @routes.create
  async create(
    @Body() body: ConnectorInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ConnectorDto> {
    const remember = idempotency.remember(shownConnector);
    return shownConnector(await this.connectors.create(caller, body, remember));
  }

  @routes.get
  async get(@Param('id') id: string): Promise<ConnectorDto> {
    return shownConnector(await this.rows.get(id));
  }

  @routes.update
  async update(
    @Param('id') id: string,
    @Body() body: ConnectorUpdateDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<ConnectorDto> {
    return shownConnector(await this.connectors.update(caller, id, body));
  }

  @routes.delete
  async delete(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.connectors.delete(caller, id);
    return { id, deleted: true };
  }
}
