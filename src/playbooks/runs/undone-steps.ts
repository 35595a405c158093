// SQL: joins rolled back actions with the steps of all runs that share them.
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { ActionTypeName } from '../../action-catalogue/action-types.js';
import { actionIdOf, shownActionId } from '../../actions/action.js';
import { ACTION_EVENTS } from '../../actions/action-records.js';
import {
  IncidentTimeline,
  type NewTimelineEntry,
} from '../../incidents/timeline/incident-timeline.js';
import { type Statement, Statements } from '../../platform/database/statements.js';
import { DomainEvents } from '../../platform/work/domain-events.js';
import { shownStart } from '../../platform/text.js';

interface UndoneStep {
  readonly rollback_id: string;
  readonly type: ActionTypeName;
  readonly rolled_back_by: string;
  readonly reason: string;
  readonly step: string;
  readonly playbook: string;
  readonly version: number;
  readonly incident_id: string;
}

const FIND: Statement = {
  name: 'playbook_run_steps_undone',
  text: `
    select rollback.id as rollback_id, original.action_type as type, rollback.requested_by as rolled_back_by,
           rollback.reason, step.name as step, run.playbook_name as playbook, run.playbook_version as version,
           run.incident_id
      from actions rollback
      join actions original on original.id = rollback.rollback_of
      join playbook_run_steps step on step.action_id = original.id
      join playbook_runs run on run.id = step.run_id
     where rollback.id = any($1::uuid[]) and run.incident_id is distinct from rollback.incident_id
       and run.incident_id is not null`,
};

const LONGEST_REASON = 500;

/**
 * A step may share an action that was requested for another incident. The rollback of that action also undoes the step, and
 * nobody who works on the incident of the step would see it: this adds an entry to the timeline of that incident.
 */
@Injectable()
export class UndoneSteps implements OnModuleInit {
  constructor(
    private readonly events: DomainEvents,
    private readonly statements: Statements,
    private readonly timeline: IncidentTimeline,
  ) {}

  onModuleInit(): void {
    const rollbacks = { types: [ACTION_EVENTS.completed], where: 'exists($.rollback_of)' };
    this.events.inTransaction(rollbacks, 'playbook-steps-undone', async (tx, events) => {
      const ids = events.map(({ subject }) => actionIdOf(subject.id));
      const steps = await this.statements.rowsIn<UndoneStep>(tx, FIND, [ids]);
      await this.timeline.add(tx, ...steps.map(entryOf));
    });
  }
}

function entryOf(undone: UndoneStep): NewTimelineEntry {
  const { rollback_id, type, rolled_back_by: by, reason, step, playbook, version } = undone;
  const why = shownStart(reason, LONGEST_REASON);
  return {
    incidentId: undone.incident_id,
    event: 'playbook_step_undone',
    actor: by,
    summary: `Step ${step} of the playbook ${playbook} (version ${version}) is undone: ${by} rolled back its ${type}, which another incident shares. Reason: ${why}`,
    subject: { type: 'action', id: shownActionId(rollback_id) },
  };
}
