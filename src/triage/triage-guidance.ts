import { Injectable } from '@nestjs/common';

/** Instructions that people of this site wrote for the model. */
export interface Guidance {
  readonly name: string;
  readonly instructions: string;
}

/** What guides a run beside its incident. Nothing here runs a step of a playbook. */
export abstract class TriageGuidance {
  /** Undefined when there is none of this name or id, or it is disabled. */
  abstract find(nameOrId: string): Promise<Guidance | undefined>;
}

/** Where nothing has instructions. */
@Injectable()
export class NoGuidance extends TriageGuidance {
  async find(): Promise<undefined> {
    return undefined;
  }
}
