import { Injectable } from '@nestjs/common';
import { PlaybooksService } from '../playbooks/playbooks.service.js';

/** What people of this site wrote in a playbook for the model. */
export interface Guidance {
  readonly name: string;
  /** A playbook may have steps alone. */
  readonly instructions?: string;
}

/** What guides a run beside its incident. Nothing here runs a step of a playbook. */
@Injectable()
export class TriageGuidance {
  constructor(private readonly playbooks: PlaybooksService) {}

  /** Undefined when there is none of this name or id, or it is disabled. */
  async find(nameOrId: string): Promise<Guidance | undefined> {
    const found = await this.playbooks.findEnabled(nameOrId);
    return found && { name: found.name, instructions: found.definition.instructions };
  }
}
