import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal, type Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { ApiAnswer, Operation } from '../../platform/openapi/answers.js';
import { Idempotent, type Idempotency } from '../../platform/idempotency/idempotency.js';
import { ConnectorTypes } from '../connector-types.js';
import { ConnectorsService } from '../connectors.service.js';
import { ConnectorChecks } from './connector-checks.js';
import { ConnectorHealthDto, ConnectorTestDto, ConnectorTypeDto } from './connector-health.dto.js';

/** Registered before ConnectorsController, because its `:id` would match `types` and `health`. */
@ApiTags('Connectors')
@Controller('api/connectors')
export class ConnectorHealthController {
  constructor(
    private readonly types: ConnectorTypes,
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
    return this.types.all.map(ConnectorTypeDto.from);
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
    const rows = await this.connectors.all();
    return rows.map((row) => ConnectorHealthDto.from(row, this.types.standsBy(row, rows)));
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
  async test(
    @Param('id') id: string,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ConnectorTestDto> {
    const remember = idempotency.remember(ConnectorTestDto.from);
    return ConnectorTestDto.from(await this.checks.test(caller, id, remember));
  }
}
