import { Module } from '@nestjs/common';
import { PlaybookChanges } from './playbook-changes.js';
import { PlaybooksController } from './playbooks.controller.js';
import { PlaybooksService } from './playbooks.service.js';
import { PlaybooksRepository } from './records/playbooks.repository.js';
import { FirstPlaybooks } from './shipped/first-playbooks.js';

/** The rooms: `language` checks and evaluates what steps say, `records` holds rows, `shipped` what a site begins with, `runs` is
 * everything about runs. */
@Module({
  controllers: [PlaybooksController],
  providers: [FirstPlaybooks, PlaybookChanges, PlaybooksRepository, PlaybooksService],
  exports: [PlaybooksService],
})
export class PlaybooksModule {}
