// SQL: requests are a hot path, and the lookup has a condition on other rows of the same table.
import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { readIpAddress } from '../platform/addresses/ip-address.js';
import {
  actionType,
  type ActionTypeName,
  REPEATABLE_TYPES,
  undoneBy,
} from '../action-catalogue/action-types.js';
import { bareMessageId, mailAddressIn } from '../action-catalogue/parameters.js';
import { normalForm } from '../action-catalogue/protected-targets.js';
import { Clock } from '../platform/clock.js';
import { Settings } from '../platform/config/settings.js';
import { type Statement, Statements } from '../platform/database/statements.js';
import type { Tx } from '../platform/database/transactions.js';
import { AppError } from '../platform/errors/app-error.js';
import type { LockedIncident } from '../incidents/incident.js';
import { type Action, type Parameters, reportedSender, shownActionId } from './action.js';

/** Earlier action of the same type on the same target, recent enough that a new request would repeat it. */
export interface Twin {
  readonly n: number;
  readonly action_type: ActionTypeName;
  readonly id: string;
  readonly status: 'pending' | 'pending_approval' | 'completed';
  readonly approval_level: NonNullable<Action['approval_level']> | null;
  readonly requested_by: string;
  readonly requested_at: Date;
  readonly executed_at: Date | null;
}

/** Stands for a twin that is an earlier request of the same batch. */
export const EARLIER = 'earlier';

const IN_WORDS: Readonly<Record<Twin['status'], string>> = {
  pending: 'is under way',
  pending_approval: 'waits for approval',
  completed: 'was done',
};

export class DuplicateActionError extends AppError {
  constructor({ id, action_type, status, requested_by, requested_at, executed_at }: Twin) {
    super(
      'duplicate_action',
      `${action_type} on this target was requested by ${requested_by} and ${IN_WORDS[status]}. Send repeat: true to request it again.`,
      {
        details: {
          action_id: shownActionId(id),
          status,
          requested_by,
          requested_at: requested_at.toISOString(),
          executed_at: executed_at?.toISOString(),
        },
      },
    );
  }
}

/** The actions of one playbook run may repeat each other. */
interface PossibleRepeat extends Pick<Action, 'action_type' | 'parameters' | 'playbook_run_id'> {
  readonly incident?: LockedIncident;
  readonly repeat?: boolean;
}

/** Locks in sorted order, so that transactions with several targets do not deadlock. */
const LOCK: Statement = {
  name: 'actions_lock_targets',
  text: `select pg_advisory_xact_lock(target)
    from (select distinct target from unnest($1::bigint[]) as target order by target) as sorted`,
};

/**
 * Finds the twins. An action is not a twin if it does less (a shorter block, a quick scan instead of a full scan), if
 * its effect was undone or has ended, if it waited too long for approval, or if it was only simulated although a real
 * connector exists now. A release without a sender undoes the quarantines of all mails with the Message-ID.
 */
const FIND: Statement = {
  name: 'actions_find_twins',
  text: `
    select wanted.n, wanted.action_type, twin.*
      from jsonb_to_recordset($1::jsonb)
             as wanted (n integer, action_type text, target_hash bytea, unbound_hash bytea, opposite text, run_id uuid,
                        minutes float8, is_full_scan boolean)
     cross join lateral (
       select id, status, approval_level, requested_by, requested_at, executed_at
         from actions
        cross join lateral (select coalesce((parameters ->> 'duration_minutes')::float8, 'infinity')) as lasts (minutes)
        where target_hash = wanted.target_hash and action_type = wanted.action_type
          and lasts.minutes >= coalesce(wanted.minutes, 'infinity')
          and (not wanted.is_full_scan or parameters ->> 'scan_type' = 'full')
          and (wanted.run_id is null or playbook_run_id is distinct from wanted.run_id)
          and (status = 'pending'
               or status = 'pending_approval'
                  and ($3 = 0 or requested_at + $3 * interval '1 minute' > clock_timestamp())
               or status = 'completed' and executed_at > $2::timestamptz
                  and extract(epoch from clock_timestamp() - executed_at) < lasts.minutes * 60
                  and (result ->> 'simulated' is null or not exists (
                       select from connectors where type <> 'sandbox' and deleted_at is null))
                  and not exists (
                    select from actions undo
                     where undo.target_hash in (wanted.target_hash, wanted.unbound_hash)
                       and undo.action_type = wanted.opposite
                       and undo.status = 'completed' and undo.executed_at >= actions.executed_at))
        order by id desc limit 1) as twin`,
};

const MINUTE = 60_000;

@Injectable()
export class DuplicateActions {
  constructor(
    private readonly statements: Statements,
    private readonly clock: Clock,
    private readonly settings: Settings,
  ) {}

  /** Keeps the targets locked, so that an equal request sees the new action. Lock incidents before targets. */
  async of(
    tx: Tx,
    wanted: readonly PossibleRepeat[],
  ): Promise<readonly (Twin | typeof EARLIER | undefined)[]> {
    const { actionRepeatMinutes, approvalTtlMinutes } = this.settings;
    const twins = wanted.map((): Twin | typeof EARLIER | undefined => undefined);
    const searched = actionRepeatMinutes === 0 ? [] : wanted.flatMap(searchFor);
    if (searched.length === 0) return twins;
    await this.statements.rowsIn(tx, LOCK, [searched.map(({ lock }) => lock)]);
    const since = new Date(this.clock.now().getTime() - actionRepeatMinutes * MINUTE);
    const values = [JSON.stringify(searched), since, approvalTtlMinutes];
    const found = await this.statements.rowsIn<Twin>(tx, FIND, values);
    const keyOf = ({ action_type, target_hash }: Search) => `${action_type} ${target_hash}`;
    const first = new Map(searched.toReversed().map((search) => [keyOf(search), search.n]));
    for (const search of searched)
      if (first.get(keyOf(search)) !== search.n) twins[search.n] = EARLIER;
    for (const twin of found) twins[twin.n] = twin;
    return twins;
  }
}

function searchFor(wanted: PossibleRepeat, n: number) {
  const { action_type, parameters, repeat, playbook_run_id: run_id } = wanted;
  if (repeat || REPEATABLE_TYPES.includes(action_type)) return [];
  const hash = targetHash(action_type, parameters, reportedSender(wanted));
  const search = {
    n,
    action_type,
    opposite: actionType(action_type).inverse ?? undoneBy(action_type),
    run_id,
    lock: String(hash.readBigInt64BE()),
    target_hash: byteaOf(hash),
    unbound_hash: byteaOf(targetHash(action_type, parameters)),
    /** Absent for a permanent effect. */
    minutes: parameters['duration_minutes'],
    is_full_scan: parameters['scan_type'] === 'full',
  };
  return [search];
}

type Search = ReturnType<typeof searchFor>[number];

const byteaOf = (bytes: Buffer) => `\\x${bytes.toString('hex')}`;

/**
 * Identifies the target of an action. All spellings of a target have the same hash. Hashes the target parameter in normal form,
 * or all parameters except the reason. The hash is stored: after a change of this function, the search for twins misses older
 * actions for ACTION_REPEAT_MINUTES.
 *
 * @param mailSender sender that an action on a mail is bound to. Mails of two senders with one Message-ID are two targets.
 */
export function targetHash(
  name: ActionTypeName,
  parameters: Parameters,
  mailSender?: string,
): Buffer {
  const { target, parameters: known } = actionType(name);
  const named = target ? [target.parameter] : known.map((parameter) => parameter.name);
  const values = named
    .filter((parameter) => parameter !== 'reason' && Object.hasOwn(parameters, parameter))
    .map((parameter) => [parameter, formOf(parameter, String(parameters[parameter]))]);
  if (mailSender !== undefined) {
    values.push(['the sender of the mail', mailAddressIn(mailSender) ?? normalForm(mailSender)]);
  }
  return createHash('sha256').update(JSON.stringify(values)).digest();
}

function formOf(parameter: string, value: string): string {
  if (parameter === 'message_id') return bareMessageId(value);
  const address = readIpAddress(value.trim())?.address.text;
  if (address === undefined) return normalForm(value);
  return isIPv6(address) ? new URL(`http://[${address}]`).hostname : address;
}
