// SQL for the steps, which are read with their actions each time that a run goes on, and for the turn of an automatic run.
import { Injectable } from '@nestjs/common';
import { DataSource, IsNull, Not } from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm/query-builder/QueryPartialEntity.js';
import { type Statement, Statements } from '../../../platform/database/statements.js';
import type { Tx } from '../../../platform/database/transactions.js';
import {
  type PlaybookRunSummary,
  type ReachedStep,
  type RunInput,
  waitsForTurn,
} from '../playbook-run.js';
import { PlaybookRunEntity } from './playbook-run.entity.js';
import { runOf, stepOf, type StepRow } from './run-rows.js';

export interface NewPlaybookRun extends RunInput {
  readonly id: string;
  readonly playbookId: string;
  readonly playbookVersion: number;
  readonly playbookName: string;
  readonly requestedBy: string;
  readonly onBehalfOf?: string;
  readonly automatic: boolean;
  readonly stepsTotal: number;
  readonly startedAt: Date;
  readonly startsAt?: Date;
  /** It is claimed by the transaction that creates it. Without this it waits for any replica. */
  readonly claimForMs?: number;
}

type AutomaticRun = Pick<NewPlaybookRun, 'playbookId' | 'playbookVersion'> & {
  readonly incidentId: string;
};

const STEPS: Statement = {
  name: 'playbook_run_steps_find',
  text: `
    select step.*, action.action_type as type, action.status as action_status, action.parameters,
           action.approval_level, action.result, action.rejected_by, action.rejection_reason,
           action.playbook_run_id is distinct from step.run_id as borrowed,
           action.incident_id is distinct from run.incident_id as elsewhere
      from playbook_run_steps step join playbook_runs run on run.id = step.run_id
      left join actions action on action.id = step.action_id
     where step.run_id = $1 order by step.position`,
};

/** Of the version that an automatic run goes by, and of the changes that last let it run by itself or trust the verdict. */
const AUTHORS: Statement = {
  name: 'playbook_runs_authors',
  text: `
    with versions as (
      select version.version, version.changed_by, flag, version.definition ->> flag = 'true' as is_set,
             version.version = run.playbook_version as is_of_run,
             lag(version.definition ->> flag = 'true', 1, false) over (partition by flag order by version.version) as was_set
        from playbook_runs run
        join playbook_versions version
          on version.playbook_id = run.playbook_id and version.version <= run.playbook_version
       cross join unnest(array['auto_run', 'trust_verdict']) as flag
       where run.id = $1 and run.automatic)
    select changed_by as name from versions where is_of_run
     union
    select (select changed_by from versions earlier
             where earlier.flag = versions.flag and earlier.is_set and not earlier.was_set
             order by earlier.version desc limit 1)
      from versions where is_of_run and is_set`,
};

/** Whoever else asks waits for the end of the transaction, so that no two runs get one turn. */
const LOCK_PLAYBOOK: Statement = {
  name: 'playbook_runs_lock_playbook',
  text: `select id from playbooks where id = $1 for no key update`,
};

const TURN: Statement = {
  name: 'playbook_runs_turn',
  text: `
    select starts_at + interval '1 hour' as turn from playbook_runs
     where playbook_id = $1 and starts_at is not null
     order by starts_at desc offset $2::integer - 1 limit 1`,
};

/** Inserts and reads runs. Every change of one is in RunWritesRepository. */
@Injectable()
export class PlaybookRunsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  /** False for an automatic run that there is already. */
  async insert(tx: Tx, run: NewPlaybookRun): Promise<boolean> {
    const { claimForMs } = run;
    const row = {
      id: run.id,
      playbook_id: run.playbookId,
      playbook_version: run.playbookVersion,
      playbook_name: run.playbookName,
      incident_id: run.incident?.id ?? null,
      status: 'running',
      requested_by: run.requestedBy,
      on_behalf_of: run.onBehalfOf ?? null,
      automatic: run.automatic,
      classification: run.automatic ? (run.incident?.verdict?.classification ?? '') : '',
      variables: run.variables,
      incident: run.incident ?? null,
      steps_total: run.stepsTotal,
      due_at: waitsForTurn(run) ? run.startsAt : () => 'now()',
      started_at: run.startedAt,
      starts_at: run.startsAt ?? null,
      ...(claimForMs !== undefined && {
        fence: 1,
        attempts: 1,
        // A whole number of ours, which an insertion has no parameter for.
        lease_until: () => `now() + interval '${Math.trunc(claimForMs)} milliseconds'`,
      }),
    };
    const result = await tx
      .createQueryBuilder()
      .insert()
      .into(PlaybookRunEntity)
      .values(row as QueryDeepPartialEntity<PlaybookRunEntity>)
      .orIgnore()
      .returning('id')
      .execute();
    return (result.raw as unknown[]).length > 0;
  }

  /** The classifications of the verdicts by which the version has run by itself for the incident. */
  async automaticallyRunFor(
    tx: Tx,
    { playbookId, playbookVersion, incidentId }: AutomaticRun,
  ): Promise<string[]> {
    const rows = await tx.getRepository(PlaybookRunEntity).find({
      select: { id: true, classification: true },
      where: {
        incident_id: incidentId,
        playbook_id: playbookId,
        playbook_version: playbookVersion,
        automatic: true,
      },
    });
    return rows.map(({ classification }) => classification);
  }

  /** When one more automatic run of the playbook may begin, so that no more than `limit` begin within an hour. */
  async turnOf(tx: Tx, playbookId: string, limit: number, earliest: Date): Promise<Date> {
    await this.statements.rowsIn(tx, LOCK_PLAYBOOK, [playbookId]);
    const [row] = await this.statements.rowsIn<{ turn: Date }>(tx, TURN, [playbookId, limit]);
    return row && row.turn > earliest ? row.turn : earliest;
  }

  /** Nobody where a person started the run. */
  async authorsOf(tx: Tx, runId: string): Promise<string[]> {
    const rows = await this.statements.rowsIn<{ name: string }>(tx, AUTHORS, [runId]);
    return rows.map(({ name }) => name);
  }

  async find(id: string): Promise<PlaybookRunSummary | undefined> {
    const row = await this.runs.findOneBy({ id });
    return row ? runOf(row) : undefined;
  }

  /** The steps that the run has come to, in their order. */
  async stepsOf(runId: string): Promise<ReachedStep[]> {
    return (await this.statements.rows<StepRow>(STEPS, [runId])).map(stepOf);
  }

  async stepsIn(tx: Tx, runId: string): Promise<ReachedStep[]> {
    return (await this.statements.rowsIn<StepRow>(tx, STEPS, [runId])).map(stepOf);
  }

  /** Those with something to do: the kill switch holds them while it is on. */
  async countDue(): Promise<number> {
    return await this.runs.countBy({ due_at: Not(IsNull()) });
  }

  private get runs() {
    return this.dataSource.getRepository(PlaybookRunEntity);
  }
}
