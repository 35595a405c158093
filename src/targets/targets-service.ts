import { isDeepStrictEqual } from 'node:util';
import type { QueryDeepPartialEntity } from 'typeorm';
import type { AuditLog } from '../audit/audit-log.js';
import type { Participant, Transactions, Tx } from '../platform/database/transactions.js';
import { type FieldError, ValidationError } from '../platform/errors/app-error.js';
import type { Caller } from '../platform/http/request.js';
import { type IfMatchCondition, requireMatch } from '../platform/http/etag.js';
import type { Idempotency } from '../platform/idempotency/idempotency.js';
import { newId } from '../platform/ids.js';
import type { Targets } from '../platform/net/targets.js';
import {
  allProblems,
  originsOf,
  problemAt,
  secretsNotGivenAgain,
  type TargetType,
  type TypesByName,
} from './target-check.js';
import { changeConfig, type Config, secretNames, splitConfig } from './target-config.js';
import type { TargetInput, TargetTest, TargetUpdate } from './target-contract.js';
import type { TargetRow, TargetRows } from './target-rows.js';

const TEST_MS = 30_000;
const UNKNOWN: TargetTest = {
  success: false,
  message: 'The service stopped during the test. Its result is unknown.',
  latency_ms: 0,
};

/** `secret`: new secret that the service generated in this change. No later response shows it. */
export type Changed<Row> = Row & { readonly secret?: string };

/** Change of a locked row besides its name and state. If `config` is absent, the configuration is not checked. */
interface Plan<Row> {
  readonly config?: Config;
  readonly columns: QueryDeepPartialEntity<Row>;
  readonly secret?: string;
  readonly details?: object;
}

export abstract class TargetsService<
  Row extends TargetRow,
  Input extends TargetInput,
  Update extends TargetUpdate,
> {
  protected abstract readonly types: TypesByName<TargetType>;
  abstract readonly rows: TargetRows<Row>;
  protected abstract readonly targets: Targets;
  protected abstract readonly transactions: Transactions;
  protected abstract readonly audit: AuditLog;
  protected abstract readonly audited: readonly (keyof Row)[];

  abstract create(caller: Caller, input: Input, idempotency: Participant): Promise<Changed<Row>>;

  protected abstract plan(before: Row, change: Update, tx: Tx): Plan<Row> | Promise<Plan<Row>>;

  protected abstract attempt(row: Row): Promise<Omit<TargetTest, 'latency_ms'>>;

  protected abstract storeTest(tx: Tx, row: Row, result: TargetTest): Promise<void>;

  async update(
    caller: Caller,
    id: string,
    change: Update,
    condition?: IfMatchCondition,
  ): Promise<Changed<Row>> {
    if (Object.values(change).every((value) => value === undefined)) {
      throw ValidationError.nothingGiven();
    }
    return await this.transactions.run<Changed<Row>>(async (tx) => {
      const before = await this.rows.get(id, tx);
      requireMatch(condition, before.version);
      const { name = before.name, enabled = before.enabled } = change;
      const plan = await this.plan(before, change, tx);
      const changed = plan.config && this.changeConfig(before, plan.config);
      const { config, secrets, secret_names } = changed?.stored ?? before;
      const stored = { name, enabled, config, secrets, secret_names };
      const after = await this.rows.change(tx, id, { ...plan.columns, ...stored });
      await this.record(tx, caller, 'updated', after, {
        name_before: before.name === name ? undefined : before.name,
        config_fields: change.config && Object.keys(change.config),
        ...plan.details,
        ...changed?.details,
      });
      return { ...after, secret: plan.secret };
    }, caller);
  }

  async delete(caller: Caller, id: string, condition?: IfMatchCondition): Promise<void> {
    await this.transactions.run(async (tx) => {
      const row = await this.rows.get(id, tx);
      requireMatch(condition, row.version);
      await this.rows.markDeleted(tx, id);
      await this.record(tx, caller, 'deleted', row);
    }, caller);
  }

  /** Tests a target, even if it is disabled. Rejects a copy of the request while the test is running. */
  async test(caller: Caller, id: string, idempotency: Idempotency): Promise<TargetTest> {
    const row = await this.rows.get(id);
    const asIs = (result: TargetTest) => result;
    const isRunning = idempotency.remember(asIs, { provisionalForMs: TEST_MS });
    await this.transactions.run<TargetTest>(async () => UNKNOWN, caller, isRunning);
    const result = await this.tested(row);
    const store = async (tx: Tx) => {
      await this.storeTest(tx, row, result);
      await this.record(tx, caller, 'tested', row, { success: result.success });
      return result;
    };
    return await this.transactions.run(store, caller, idempotency.remember(asIs));
  }

  protected async tested(row: Row): Promise<TargetTest> {
    const begun = performance.now();
    const result = await this.attempt(row);
    return { ...result, latency_ms: Math.round(performance.now() - begun) };
  }

  protected async insert(
    caller: Pick<Caller, 'name'> & Participant,
    row: QueryDeepPartialEntity<Row> & Pick<TargetRow, 'name' | 'type' | 'config'>,
    idempotency: Participant,
    secret?: string,
  ): Promise<Changed<Row>> {
    const id = newId();
    const type = this.types.named(row.type);
    const stored = this.checkAndSeal(type, id, row.config);
    const make = async (tx: Tx) => {
      const made = await this.rows.insert(tx, { ...row, id, ...stored });
      await this.record(tx, caller, 'created', made, { sent_to: destinationsOf(type, row.config) });
      return { ...made, secret };
    };
    return await this.transactions.run<Changed<Row>>(make, caller, idempotency);
  }

  /** If the change sends secrets to another destination, it must contain all secrets again. */
  private changeConfig(row: Row, change: Config) {
    const type = this.types.named(row.type);
    const before = this.rows.open(row);
    const after = changeConfig(type.config, before, change);
    const stored = this.checkAndSeal(type, row.id, after);
    const [origins, moved] = [before, after].map((config) => originsOf(type.config, config));
    if (!type.signsOnly && !isDeepStrictEqual(origins, moved)) {
      const missing = secretsNotGivenAgain(type.config, before, change);
      if (missing.length > 0) throw new ValidationError(missing.map(secretRequired));
    }
    const [sent_to_before, sent_to] = [destinationsOf(type, before), destinationsOf(type, after)];
    const details = isDeepStrictEqual(sent_to_before, sent_to) ? {} : { sent_to_before, sent_to };
    return { stored, details };
  }

  private checkAndSeal(type: TargetType, id: string, config: Config) {
    const problems = allProblems(type, config, this.targets);
    if (problems.length > 0) throw new ValidationError(problems);
    const { readable, secrets } = splitConfig(type.config, config);
    const secret_names = secretNames(type.config, config);
    const sealed = secret_names.length > 0 ? this.rows.seal(id, secrets) : null;
    return { config: readable, secrets: sealed, secret_names };
  }

  /** Details contain only field names and destinations, because any other value may be a secret. */
  private async record(
    tx: Tx,
    { name: actor }: Pick<Caller, 'name'>,
    change: 'created' | 'updated' | 'deleted' | 'tested',
    row: Row,
    more: object = {},
  ): Promise<void> {
    const names = ['name', 'type', 'enabled', ...this.audited] as (keyof Row)[];
    const details = Object.fromEntries(names.map((name) => [name, row[name] ?? undefined]));
    const type = this.rows.subject;
    await this.audit.record(tx, {
      actor,
      action: `${type}.${change}`,
      subject: { type, id: row.id },
      details: { ...details, ...more },
    });
  }
}

const secretRequired = (name: string): FieldError => {
  const text = 'must be given again, because the scheme, host or port of its destination changes';
  return problemAt(`config.${name}`, 'secret_required', text);
};

const destinationsOf = (type: TargetType, config: Config): string[] => [
  ...originsOf(type.config, config),
  ...(type.sentTo?.(config) ?? []),
];
