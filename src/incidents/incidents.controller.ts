import {
  Controller,
  Get,
  Query,
  Body,
  Delete,
  Header,
  Param,
  Post,
  Put,
  Res,
} from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Requires } from '../platform/access/access.js';
import { ClientLeft, AnyKeysIn } from '../platform/http/handler-options.js';
import {
  ApiAnswer,
  ApiErrorMeanings,
  ApiErrors,
  Operation,
  ApiIfMatch,
  ETAG_HEADER,
  DeletedResourceDto,
} from '../platform/openapi/answers.js';
import { ChangeFeed } from '../audit/changes/change-feed.js';
import { ApiChanges, ChangesQueryDto } from '../audit/changes/feed-api.js';
import { IncidentsService } from './incidents.service.js';
import { CurrentPrincipal, type Principal } from '../auth/principal.js';
import { present } from '../platform/validation/present.js';
import { IfMatch, type IfMatchCondition, setEtag } from '../platform/http/etag.js';
import { JSON_UTF8 } from '../platform/http/answer.js';
import { ListAnswer, PageQueryDto } from '../platform/paging/page.js';
import { Idempotent, type Idempotency } from '../platform/idempotency/idempotency.js';
import {
  CreatedIncidentDto,
  IncidentChangesDto,
  IncidentDto,
  incidentEnvelope,
  IncidentInputDto,
  IncidentSummaryDto,
  IncidentUpdateDto,
  presentChanges,
} from './dto/incident.dto.js';
import { IncidentQueryDto } from './incident-list.js';
import { Incidents } from './incidents.js';
import { IncidentIdPipe } from './incident-reference.js';
import { IncidentReportDto, IncidentReports, reportList } from './reports/incident-reports.js';
import {
  IncidentTimeline,
  TimelineEntryDto,
  TimelineQueryDto,
} from './timeline/incident-timeline.js';

@ApiTags('Incidents')
@Controller('api/incidents')
@Requires('viewer')
export class IncidentsController {
  constructor(
    private readonly incidents: IncidentsService,
    private readonly records: Incidents,
    private readonly feed: ChangeFeed,
    private readonly histories: IncidentTimeline,
    private readonly laterEvents: IncidentReports,
  ) {}

  @Post()
  @Requires('analyst')
  @AnyKeysIn('raw_data')
  @Operation(
    'createIncident',
    'Create an incident',
    'For reports of people and your own tools. Tools that send events should use webhooks, which recognise repeated events.',
  )
  @ApiAnswer(201, 'It is open.', CreatedIncidentDto)
  async create(
    @Body() body: IncidentInputDto,
    @CurrentPrincipal() caller: Principal,
    @Idempotent() idempotency: Idempotency,
  ): Promise<CreatedIncidentDto> {
    const remember = idempotency.remember(present(CreatedIncidentDto));
    return present(CreatedIncidentDto)(await this.incidents.create(caller, body, remember));
  }

  @Get()
  @Operation(
    'listIncidents',
    'List incidents',
    'Newest first, unless `sort` is given. Without events and reasoning: see `GET /api/incidents/{id}`. To follow changes, use `GET /api/incidents/changes`: times are taken before a change becomes visible, so a program that polls by the last time it has seen misses incidents.',
  )
  @ApiAnswer(200, 'The matching incidents, with the exact total.', IncidentSummaryDto, {
    list: true,
  })
  async list(@Query() query: IncidentQueryDto): Promise<ListAnswer<IncidentSummaryDto>> {
    const page = await this.records.list(IncidentQueryDto.toRequest(query));
    return ListAnswer.of(page, query, present(IncidentSummaryDto));
  }

  @Get('changes')
  @ApiChanges('Incident', IncidentChangesDto)
  async changes(
    @Query() query: ChangesQueryDto,
    @CurrentPrincipal() caller: Principal,
    @ClientLeft() left: AbortSignal,
  ): Promise<IncidentChangesDto> {
    return presentChanges(await this.feed.page(this.records, query, caller, left));
  }

  @Get(':id')
  @Operation(
    'getIncident',
    'Read an incident',
    'Returns the event, the verdict and the number. Send the `ETag` in If-Match to change exactly this version.',
  )
  @ApiAnswer(200, 'The whole incident.', IncidentDto, { headers: ETAG_HEADER })
  @Header('content-type', JSON_UTF8)
  async get(
    @Param('id', IncidentIdPipe) id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const incident = await this.records.get(id);
    setEtag(reply, incident.version);
    return incidentEnvelope(incident);
  }

  @Put(':id')
  @Requires('analyst')
  @Operation(
    'updateIncident',
    'Change an incident',
    'Lowering the severity of a critical incident requires approval level senior if `APPROVAL_RAISE_ON_CRITICAL` is on.',
  )
  @ApiIfMatch()
  @ApiAnswer(200, 'The incident after the change.', IncidentDto, { headers: ETAG_HEADER })
  @ApiErrors('precondition_failed', 'insufficient_approval_level', 'already_resolved')
  @ApiErrorMeanings({
    insufficient_approval_level:
      'Lowering the severity of a critical incident requires level senior, because its actions would then need a lower approval level.',
    already_resolved:
      'The request sets a status other than `resolved`, but a colleague has resolved the incident. `details` has the author, the time and the resolution.',
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
    const incident = await this.incidents.update(caller, id, change, condition, body.pending);
    setEtag(reply, incident.version);
    return incidentEnvelope(incident);
  }

  @Delete(':id')
  @Requires('admin')
  @Operation(
    'deleteIncident',
    'Delete an incident',
    'For incidents that should not exist. Set handled incidents to resolved instead.',
  )
  @ApiIfMatch()
  @ApiAnswer(
    200,
    'The incident is hidden everywhere, and its waiting actions are rejected. The audit trail stays.',
    DeletedResourceDto,
  )
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
    'Oldest first. Returns events with the same id but different content than the first event, which is `raw_data` of the incident. Returns at most the newest 100 of these events, with 8 MiB in total; the inbox of webhook events keeps all.',
  )
  @ApiAnswer(200, 'The later events.', IncidentReportDto, { list: true })
  @Header('content-type', JSON_UTF8)
  async reports(
    @Param('id', IncidentIdPipe) id: string,
    @Query() query: PageQueryDto,
  ): Promise<string> {
    const incident = await this.records.get(id);
    return reportList(await this.laterEvents.page(incident.id, query), query);
  }

  @Get(':id/timeline')
  @Operation(
    'listIncidentTimeline',
    'List the history of an incident',
    'All changes with author and reason, oldest first.',
  )
  @ApiAnswer(200, 'The history of the incident, oldest first.', TimelineEntryDto, { list: true })
  async timeline(
    @Param('id', IncidentIdPipe) id: string,
    @Query() query: TimelineQueryDto,
  ): Promise<ListAnswer<TimelineEntryDto>> {
    return ListAnswer.of(await this.histories.page(id, query), query, present(TimelineEntryDto));
  }
}
