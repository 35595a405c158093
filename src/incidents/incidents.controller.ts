import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  Param,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { CurrentPrincipal } from '../auth/current-principal.js';
import type { Principal } from '../auth/principal.js';
import { Requires } from '../platform/access/access.js';
import { IfMatch, type IfMatchCondition, setEtag } from '../platform/http/etag.js';
import { AnyKeysIn } from '../platform/http/handler-options.js';
import { JSON_UTF8 } from '../platform/http/answer.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  ApiIfMatch,
  ETAG_HEADER,
} from '../platform/openapi/answers.js';
import { DeletedResourceDto } from '../platform/http/deleted.dto.js';
import { ListAnswer } from '../platform/paging/page.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { NewIncidentDto } from './dto/create-incident.dto.js';
import { IncidentQueryDto } from './dto/incident-query.dto.js';
import { CreatedIncidentDto, IncidentDto, IncidentSummaryDto } from './dto/incident.dto.js';
import { IncidentReportDto, IncidentReportQueryDto } from './dto/incident-report.dto.js';
import { TimelineEntryDto, TimelineQueryDto } from './dto/timeline.dto.js';
import { IncidentUpdateDto } from './dto/update-incident.dto.js';
import { IncidentIdPipe } from './incident-reference.js';
import { IncidentsService } from './incidents.service.js';

@ApiTags('Incidents')
@Controller('api/incidents')
@Requires('viewer')
export class IncidentsController {
  constructor(private readonly incidents: IncidentsService) {}

  @Post()
  @Requires('analyst')
  @AnyKeysIn('raw_data')
  @Operation(
    'createIncident',
    'Create an incident',
    'For what people report, and for tools of your own. What tools send by themselves comes in by webhooks, which find out what is the same event again.',
  )
  @ApiAnswer({ status: 201, description: 'It is open.', type: CreatedIncidentDto })
  async create(
    @Body() body: NewIncidentDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<CreatedIncidentDto> {
    const wanted = NewIncidentDto.toWanted(body);
    const remember = idempotency.remember(CreatedIncidentDto.from);
    return CreatedIncidentDto.from(await this.incidents.create(caller, wanted, remember));
  }

  @Get()
  @Operation(
    'listIncidents',
    'List incidents',
    'Newest first, unless `sort` says otherwise. Without the events and the reasons of verdicts: `GET /api/incidents/{id}` has them. To follow what is new, ask for what is created after the last `created_at` that you have seen; to follow what changes, take `updated_after` and `sort=updated_at`.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The incidents that match, with their exact number.',
    type: IncidentSummaryDto,
    list: true,
  })
  async list(@Query() query: IncidentQueryDto): Promise<ListAnswer<IncidentSummaryDto>> {
    const page = await this.incidents.list(IncidentQueryDto.toRequest(query));
    return ListAnswer.of(page, query, IncidentSummaryDto.from);
  }

  @Get(':id')
  @Operation(
    'getIncident',
    'Read an incident',
    'With its event, its verdict and its number. The `ETag` is for a change of just this version.',
  )
  @ApiAnswer({
    status: 200,
    description: 'All there is to it.',
    type: IncidentDto,
    headers: ETAG_HEADER,
  })
  @Header('content-type', JSON_UTF8)
  async get(
    @Param('id', IncidentIdPipe) id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const incident = await this.incidents.get(id);
    setEtag(reply, incident.version);
    return IncidentDto.envelopeOf(incident);
  }

  @Put(':id')
  @Requires('analyst')
  @Operation(
    'updateIncident',
    'Change an incident',
    'Lowering the severity of a critical incident needs approval level senior where `APPROVAL_RAISE_ON_CRITICAL` is on.',
  )
  @ApiIfMatch()
  @ApiAnswer({
    status: 200,
    description: 'The incident as it is now.',
    type: IncidentDto,
    headers: ETAG_HEADER,
  })
  @ApiErrors('precondition_failed', 'insufficient_approval_level', 'already_resolved')
  @ApiErrorMeanings({
    insufficient_approval_level:
      'The severity of a critical incident is to be lowered, which needs level senior here: its actions would need less approval.',
    already_resolved:
      'A status is given that is not `resolved`, and a colleague has resolved the incident: `details` say who, when and how.',
  })
  @Header('content-type', JSON_UTF8)
  async update(
    @Param('id', IncidentIdPipe) id: string,
    @Body() body: IncidentUpdateDto,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const change = IncidentUpdateDto.toChange(body);
    const { incident, ...settled } = await this.incidents.update(
      caller,
      id,
      change,
      condition,
      body.pending,
    );
    setEtag(reply, incident.version);
    return IncidentDto.envelopeOf(incident, settled);
  }

  @Delete(':id')
  @Requires('admin')
  @Operation(
    'deleteIncident',
    'Delete an incident',
    'For what should never have been there: an incident that is dealt with is resolved instead.',
  )
  @ApiIfMatch()
  @ApiAnswer({
    status: 200,
    description:
      'It is hidden everywhere and its waiting actions are rejected; the audit trail stays.',
    type: DeletedResourceDto,
  })
  @ApiErrors('precondition_failed')
  async delete(
    @Param('id', IncidentIdPipe) id: string,
    @IfMatch() condition: IfMatchCondition,
    @CurrentPrincipal() caller: Principal,
  ): Promise<DeletedResourceDto> {
    await this.incidents.delete(caller, id, condition);
    return { id: id.toLowerCase(), deleted: true };
  }

  @Get(':id/reports')
  @Operation(
    'listIncidentReports',
    'List later events about an incident',
    'Oldest first, each exactly as it came: events with the same id and other content than the first event, which is `raw_data` of the incident. The newest 100 are kept here, and all of them in the inbox.',
  )
  @ApiAnswer({
    status: 200,
    description: 'The later events.',
    type: IncidentReportDto,
    list: true,
  })
  @Header('content-type', JSON_UTF8)
  async reports(
    @Param('id', IncidentIdPipe) id: string,
    @Query() query: IncidentReportQueryDto,
  ): Promise<string> {
    return IncidentReportDto.listOf(await this.incidents.reportsOf(id, query), query);
  }

  @Get(':id/timeline')
  @Operation(
    'listIncidentTimeline',
    'List what happened to an incident',
    'For whoever takes over: all that happened, oldest first, each with who did it and what was given as the reason.',
  )
  @ApiAnswer({
    status: 200,
    description: 'What happened to it, oldest first.',
    type: TimelineEntryDto,
    list: true,
  })
  async timeline(
    @Param('id', IncidentIdPipe) id: string,
    @Query() query: TimelineQueryDto,
  ): Promise<ListAnswer<TimelineEntryDto>> {
    const page = await this.incidents.timelineOf(id, TimelineQueryDto.toRequest(query));
    return ListAnswer.of(page, query, TimelineEntryDto.from);
  }
}
