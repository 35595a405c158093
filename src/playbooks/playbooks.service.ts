import { Injectable } from '@nestjs/common';
import { isUuid } from '../platform/ids.js';
import {
  type Playbook,
  PLAYBOOK_NAME,
  type PlaybookVersion,
  type TriggeringIncident,
} from './playbook.js';
import { isTriggeredBy } from './playbook-rules.js';
import { PlaybooksRepository } from './records/playbooks.repository.js';

@Injectable()
export class PlaybooksService {
  constructor(private readonly playbooks: PlaybooksRepository) {}

  /** A disabled one, too; undefined when there is none or it was deleted. */
  async find(nameOrId: string): Promise<Playbook | undefined> {
    if (!isUuid(nameOrId) && !PLAYBOOK_NAME.test(nameOrId)) return undefined;
    return await this.playbooks.find(nameOrId);
  }

  async findEnabled(nameOrId: string): Promise<Playbook | undefined> {
    const found = await this.find(nameOrId);
    return found?.definition.enabled ? found : undefined;
  }

  /** What a run goes by, whatever became of the playbook since. */
  async versionOf(id: string, version: number): Promise<PlaybookVersion | undefined> {
    return await this.playbooks.findVersion(id, version);
  }

  /** The enabled playbooks that run by themselves for such an incident, by name. */
  async autoRunsFor(incident: TriggeringIncident): Promise<Playbook[]> {
    const all = await this.playbooks.autoRuns();
    return all.filter(({ definition }) => isTriggeredBy(definition.triggers, incident));
  }
}
