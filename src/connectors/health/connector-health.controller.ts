import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../../auth/current-principal.js';
import type { Principal } from '../../auth/principal.js';
import { Requires } from '../../platform/access/access.js';
import { ApiAnswer, Operation } from '../../platform/openapi/answers.js';
import { Idempotent } from '../../platform/idempotency/idempotent.js';
import type { Idempotency } from '../../platform/idempotency/idempotency.js';
import { ConnectorTypes } from '../connector-types.js';
import { ConnectorsService } from '../connectors.service.js';
import { ConnectorChecks } from './connector-checks.js';
import { ConnectorHealthDto, ConnectorTestDto, ConnectorTypeDto } from './connector-health.dto.js';

/** Registered before ConnectorsController, whose `:id` would take `types` and `health` for ids. */
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
    'What a connector of each type has to know, and which actions it provides.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Every type, with the schema of its configuration and what it provides.',
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
    'Read how the connectors are',
    'Enabled connectors are asked regularly; here is what came of it the last time, and nobody waits for them.',
  )
  @ApiAnswer({
    status: 200,
    description: 'Every connector, as its last check found it.',
    type: ConnectorHealthDto,
    catalogue: true,
  })
  async health(): Promise<ConnectorHealthDto[]> {
    return (await this.connectors.all()).map(ConnectorHealthDto.from);
  }

  @Post(':id/test')
  @HttpCode(200)
  @Requires('admin')
  @Operation(
    'testConnector',
    'Find out whether a connector answers',
    'The kill switch does not stop it: it has no effect.',
  )
  @ApiAnswer({
    status: 200,
    description: 'What came of it: `success` says whether it answers.',
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
