import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Requires } from '../platform/access/access.js';
import { ApiAnswer, Operation } from '../platform/openapi/answers.js';
import { shownType } from '../targets/target-contract.js';
import { TargetController } from '../targets/target-controller.js';
import { CONNECTOR_TYPES } from './connector-registry.js';
import { actionsOf } from './connector-type.js';
import {
  ConnectorDto,
  ConnectorHealthDto,
  ConnectorInputDto,
  ConnectorTestDto,
  ConnectorTypeDto,
  ConnectorUpdateDto,
  shownConnector,
  shownHealth,
} from './connectors.dto.js';
import { ConnectorsService } from './connectors.service.js';

@ApiTags('Connectors')
@Controller('api/connectors')
export class ConnectorsController extends TargetController({
  name: 'Connector',
  input: ConnectorInputDto,
  update: ConnectorUpdateDto,
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
  present: shownConnector,
  presentTypes: () =>
    CONNECTOR_TYPES.all.map((type) => ({ ...shownType(type), actions: actionsOf(type) })),
}) {
  constructor(readonly targets: ConnectorsService) {
    super();
  }

  @Get('health')
  @Requires('viewer')
  @Operation(
    'getConnectorHealth',
    'Read the health of the connectors',
    'Enabled connectors are checked regularly. Returns the last results without waiting.',
  )
  @ApiAnswer(200, 'All connectors.', ConnectorHealthDto, { catalogue: true })
  async health(): Promise<ConnectorHealthDto[]> {
    const rows = await this.targets.rows.all();
    return rows.map((row) => shownHealth(row, rows));
  }
}
