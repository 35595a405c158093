import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { CurrentPrincipal } from '../auth/current-principal.js';
import { DeletedResourceDto } from '../platform/http/deleted.dto.js';
import type { Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, ApiErrorMeanings, ApiErrors, Operation } from '../platform/openapi/answers.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import {
  ConnectorDto,
  ConnectorQueryDto,
  NewConnectorDto,
  ConnectorUpdateDto,
} from './connectors.dto.js';
import { ApiRequestByType } from './config/requests-by-type.js';
import { CONNECTOR_REQUEST } from './connector-request.openapi.js';
import { ConnectorsService } from './connectors.service.js';

@ApiTags('Connectors')
@Controller('api/connectors')
export class ConnectorsController {
  constructor(private readonly connectors: ConnectorsService) {}

  @Get()
  @Requires('viewer')
  @Operation('listConnectors', 'List the connectors', 'Newest first, without their secrets.')
  @ApiAnswer({ status: 200, description: 'The connectors.', type: ConnectorDto, list: true })
  async list(@Query() query: ConnectorQueryDto): Promise<ListAnswer<ConnectorDto>> {
    return ListAnswer.of(await this.connectors.list(query, query.sort), query, ConnectorDto.from);
  }

  @Post()
  @Requires('admin')
  @Operation(
    'createConnector',
    'Set up a connector',
    'Which `config` a type takes is in `GET /api/connectors/types`. Nothing is sent by this: `POST /api/connectors/{id}/test` tells whether it answers, enabled or not.\n\n' +
      'The sandbox serves only while no connector of another type exists, enabled or not. With the first one, the actions that no real connector provides are no longer available: they fail with `no_connector`.',
  )
  @ApiRequestByType(CONNECTOR_REQUEST)
  @ApiAnswer({ status: 201, description: 'The connector.', type: ConnectorDto })
  @ApiErrors('conflict')
  @ApiErrorMeanings({
    conflict:
      'There is a connector of that name, or a request with the same Idempotency-Key is still under way.',
  })
  async create(
    @Body() body: NewConnectorDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<ConnectorDto> {
    const remember = idempotency.remember(ConnectorDto.from);
    return ConnectorDto.from(await this.connectors.create(caller, body, remember));
  }

  @Get(':id')
  @Requires('viewer')
  @Operation(
    'getConnector',
    'Read a connector',
    'Its secrets are never shown: `secrets_set` tells which there are.',
  )
  @ApiAnswer({ status: 200, description: 'The connector.', type: ConnectorDto })
  async get(@Param('id') id: string): Promise<ConnectorDto> {
    return ConnectorDto.from(await this.connectors.get(id));
  }

  @Put(':id')
  @Requires('admin')
  @Operation(
    'updateConnector',
    'Change a connector',
    'What is left out stays, secrets too. Where secrets would go to another host they have to be given again.',
  )
  @ApiAnswer({ status: 200, description: 'The connector as it is now.', type: ConnectorDto })
  @ApiErrors('conflict')
  @ApiErrorMeanings({ conflict: 'There is another connector of that name.' })
  async update(
    @Param('id') id: string,
    @Body() body: ConnectorUpdateDto,
    @CurrentPrincipal() caller: Principal,
  ): Promise<ConnectorDto> {
    return ConnectorDto.from(await this.connectors.update(caller, id, body));
  }

  @Delete(':id')
  @Requires('admin')
  @Operation(
    'deleteConnector',
    'Delete a connector',
    'Actions that only it provided fail from now on.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The connector and its secrets are gone.',
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
