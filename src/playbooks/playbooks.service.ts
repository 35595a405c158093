import { Injectable } from '@nestjs/common';
import { isUuid } from '../platform/ids.js';
import type { Page, PageRequest } from '../platform/paging/page.js';
import {
  isNameOrId,
  type KeptVersion,
  type Playbook,
  type PlaybookVersion,
  type TriggeringIncident,
} from './playbook.js';
import { isTriggeredBy } from './playbook-rules.js';
import { PlaybookNotFoundError } from './playbooks.errors.js';
import {
  type PlaybookFilter,
  PlaybooksRepository,
  type PlaybookSort,
  type VersionSort,
} from './records/playbooks.repository.js';

/** What there is of playbooks, for callers and for other modules. */
@Injectable()
export class PlaybooksService {
  constructor(private readonly playbooks: PlaybooksRepository) {}

  list(
    request: PageRequest,
    filter: PlaybookFilter,
    sort: readonly PlaybookSort[],
  ): Promise<Page<Playbook>> {
    return this.playbooks.list(request, filter, sort);
  }

  async get(nameOrId: string): Promise<Playbook> {
    const found = await this.find(nameOrId);
    if (!found) throw new PlaybookNotFoundError();
    return found;
  }

  /** A disabled one, too; undefined when there is none or it was deleted. */
  async find(nameOrId: string): Promise<Playbook | undefined> {
    return isNameOrId(nameOrId) ? await this.playbooks.find(nameOrId) : undefined;
  }

  async findEnabled(nameOrId: string): Promise<Playbook | undefined> {
    const found = await this.find(nameOrId);
    return found?.definition.enabled ? found : undefined;
  }

  /** What a run goes by, whatever became of the playbook since. */
  async versionOf(id: string, version: number): Promise<PlaybookVersion | undefined> {
    return await this.playbooks.findVersion(id, version);
  }

  /** Of a deleted playbook by its id alone, because its name may be that of another one now. */
  async versions(
    nameOrId: string,
    request: PageRequest,
    sort: VersionSort,
  ): Promise<Page<KeptVersion>> {
    const id = isUuid(nameOrId) ? nameOrId : (await this.get(nameOrId)).id;
    const page = await this.playbooks.versions(id, request, sort);
    if (page.total === 0) throw new PlaybookNotFoundError();
    return page;
  }

  /** The enabled playbooks that run by themselves for such an incident, by name. */
  async autoRunsFor(incident: TriggeringIncident): Promise<Playbook[]> {
    const all = await this.playbooks.autoRuns();
    return all.filter(({ definition }) => isTriggeredBy(definition.triggers, incident));
  }
}
