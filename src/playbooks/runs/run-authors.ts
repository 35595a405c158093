import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Askers } from '../../actions/requests/askers.js';
import { PlaybookRunsRepository } from './records/playbook-runs.repository.js';

/** Who wrote a playbook that runs by itself has asked for what it does, and so has who let it run or trust the verdict. */
@Injectable()
export class RunAuthors implements OnModuleInit {
  constructor(
    private readonly askers: Askers,
    private readonly runs: PlaybookRunsRepository,
  ) {}

  onModuleInit(): void {
    this.askers.register(async (tx, { playbookRunId }) =>
      playbookRunId === undefined ? [] : await this.runs.authorsOf(tx, playbookRunId),
    );
  }
}
