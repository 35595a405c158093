import type { PlaybookStep } from '../playbook.js';
import type { Decision, Outcomes } from '../language/decide-step.js';
import { advance, type RequestedStep, type StepDecider } from './next-move.js';
import type { ReachedStep, StepAction } from './playbook-run.js';

const step = (name: string, on_error: PlaybookStep['on_error'] = 'stop'): PlaybookStep => ({
  name,
  action: 'lookup_ip',
  parameters: {},
  on_error,
});

const RUN: Decision = { kind: 'run', parameters: { ip: '203.0.113.9' } };
const SKIP: Decision = { kind: 'skip' };
const error = (message = 'no such key'): Decision => ({ kind: 'error', message });

const action = (status: StepAction['status'], more: Partial<StepAction> = {}): StepAction => ({
  id: 'a',
  action_type: 'lookup_ip',
  status,
  parameters: {},
  borrowed: false,
  elsewhere: false,
  ...more,
});

function reached(position: number, more: Partial<ReachedStep>): ReachedStep {
  return { position, name: `s${position}`, status: 'running', ...more };
}

/** Returns a decider that makes the given decisions in order, and stores the outcomes that it receives. */
function script(...decisions: readonly Decision[]) {
  const told: Outcomes[] = [];
  const decide: StepDecider['decide'] = async (_, outcomes) => {
    told.push(outcomes);
    return decisions[told.length - 1]!;
  };
  const decider: StepDecider = {
    askedLevels: ['none', 'analyst', 'none'],
    decide,
  };
  return { decider, told };
}

const STEPS = [step('s0'), step('s1'), step('s2')];

/** Returns the next changes if the requested actions have the given states. All further actions are pending. */
async function next(
  steps: readonly PlaybookStep[],
  taken: readonly ReachedStep[],
  decider: StepDecider,
  ...actions: readonly StepAction[]
) {
  const requested: RequestedStep[] = [];
  const run = advance(steps, taken, decider);
  let turn = await run.next();
  while (!turn.done) {
    turn = await run.next(actions[requested.push(turn.value) - 1] ?? action('pending'));
  }
  return { ...turn.value, requested };
}

describe('advance', () => {
  it('takes the first step of a new run', async () => {
    const foreseen = await next(STEPS, [], script(RUN).decider);
    const parameters = { ip: '203.0.113.9' };
    expect(foreseen).toEqual({
      steps: [{ position: 0, name: 's0', action_id: 'a', status: 'running' }],
      next: { status: 'running' },
      requested: [
        { name: 's0', wanted: { action_type: 'lookup_ip', parameters, approval_level: 'none' } },
      ],
    });
  });

  it('ends the run of a playbook without steps', async () => {
    const foreseen = await next([], [], script().decider);
    expect(foreseen).toMatchObject({ steps: [], next: { status: 'completed' } });
  });

  it('skips all steps whose condition is false', async () => {
    const { steps } = await next(STEPS, [], script(SKIP, SKIP, RUN).decider);
    expect(steps.map(({ status }) => status)).toEqual(['skipped', 'skipped', 'running']);
  });

  it.each(['pending', 'pending_approval'] as const)(
    'waits while an action is %s',
    async (status) => {
      const { decider, told } = script();
      const foreseen = await next(STEPS, [reached(0, { action: action(status) })], decider);
      const shown = status === 'pending' ? 'running' : 'waiting_approval';
      expect(foreseen).toMatchObject({ steps: [{ status: shown }], next: { status: shown } });
      expect(foreseen.requested).toEqual([]);
      expect(told).toEqual([]);
    },
  );

  it('completes a step whose action completed, and passes its result to the next step', async () => {
    const result = { success: true, message: 'Found.', data: { malicious: 3 } };
    const { decider, told } = script(RUN);
    const open = reached(0, { action: action('completed', { result }) });
    const { steps, requested } = await next(STEPS, [open], decider);
    expect(steps).toMatchObject([
      { position: 0, name: 's0', action_id: 'a', status: 'completed' },
      { position: 1, status: 'running' },
    ]);
    expect(requested).toMatchObject([{ name: 's1', wanted: { approval_level: 'analyst' } }]);
    expect(told).toEqual([{ s0: { result } }]);
  });

  it('ends the run with an error that names the step if an action fails', async () => {
    const result = { success: false, message: 'The vendor said no.' };
    const open = reached(0, { action: action('failed', { result }) });
    expect(await next(STEPS, [open], script().decider)).toMatchObject({
      steps: [{ status: 'failed', error: 'The vendor said no.' }],
      next: { status: 'failed', error: 'The step s0 failed: The vendor said no.' },
    });
  });

  it('continues after a failed step with on_error continue, and passes its result to later steps', async () => {
    const result = { success: false, message: 'The vendor said no.' };
    const { decider, told } = script(RUN);
    const steps = [step('s0', 'continue'), step('s1')];
    const open = reached(0, { action: action('failed', { result }) });
    const foreseen = await next(steps, [open], decider);
    expect(foreseen.steps.map(({ status }) => status)).toEqual(['failed', 'running']);
    expect(told).toEqual([{ s0: { result } }]);
  });

  it('names the person who rejected an action', async () => {
    const rejected = action('rejected', { rejected_by: 'bob', rejection_reason: 'Not this host.' });
    const { decider, told } = script(RUN);
    const steps = [step('s0', 'continue'), step('s1')];
    const foreseen = await next(steps, [reached(0, { action: rejected })], decider);
    expect(foreseen.steps[0]).toMatchObject({ error: 'Rejected by bob: Not this host.' });
    expect(told[0]!['s0']!.result).toEqual({
      success: false,
      message: 'Rejected by bob: Not this host.',
    });
  });

  it('requests the action again if a shared action was rejected for another incident, but not if its approval expired', async () => {
    const steps = [step('s0')];
    const shared = { borrowed: true, elsewhere: true };
    const rejected = action('rejected', { rejected_by: 'bob', rejection_reason: 'No.', ...shared });
    const again = await next(steps, [reached(0, { action: rejected })], script(RUN).decider);
    expect(again).toMatchObject({ steps: [{ status: 'running' }], requested: [{ name: 's0' }] });
    const expired = action('rejected', {
      ...{ rejected_by: 'system', rejection_reason: 'Too late.', rejection_code: 'expired' },
      ...shared,
    });
    const ended = await next(steps, [reached(0, { action: expired })], script(RUN).decider);
    expect(ended).toMatchObject({ steps: [{ status: 'failed' }], next: { status: 'failed' } });
  });

  it('ends the run at a step that cannot be evaluated', async () => {
    expect(await next(STEPS, [], script(error()).decider)).toMatchObject({
      steps: [{ position: 0, name: 's0', status: 'failed', error: 'no such key' }],
      next: { status: 'failed' },
    });
  });

  it('continues after a step with on_error continue that cannot be evaluated', async () => {
    const steps = [step('s0', 'continue'), step('s1')];
    const { decider, told } = script(error(), SKIP);
    const foreseen = await next(steps, [], decider);
    expect(foreseen.steps.map(({ status }) => status)).toEqual(['failed', 'skipped']);
    expect(foreseen.next).toEqual({ status: 'completed' });
    expect(told[1]).toEqual({ s0: { result: { success: false, message: 'no such key' } } });
  });

  it('passes no result of a skipped step to later steps', async () => {
    const { decider, told } = script(RUN);
    await next(STEPS, [reached(0, { status: 'skipped' })], decider);
    expect(told).toEqual([{ s0: {} }]);
  });

  it('does not change a step that has ended', async () => {
    const before = reached(0, {
      status: 'failed',
      error: 'x',
      action: action('failed', { result: { success: false, message: 'x' } }),
    });
    const { steps } = await next(STEPS, [before], script(RUN).decider);
    expect(steps).toMatchObject([{ position: 1, status: 'running' }]);
  });

  it('shortens a long message of a vendor', async () => {
    const result = { success: false, message: 'x'.repeat(100_000) };
    const open = reached(0, { action: action('failed', { result }) });
    const { steps } = await next(STEPS, [open], script().decider);
    expect(steps[0]!.error).toHaveLength(1_000);
  });
});

describe('advance, with actions that end immediately', () => {
  const result = { success: true, message: 'Simulated.', simulated: true as const };
  const done = action('completed', { result });
  const statuses = (steps: readonly { readonly status: string }[]) =>
    steps.map(({ status }) => status);

  it('continues to the end of the playbook', async () => {
    const { decider, told } = script(RUN, SKIP, RUN);
    const taken = await next(STEPS, [], decider, done, done);
    expect(statuses(taken.steps)).toEqual(['completed', 'skipped', 'completed']);
    expect(taken.next).toEqual({ status: 'completed' });
    expect(told[2]).toEqual({ s0: { result }, s1: {} });
  });

  it('stops at an action that has not ended', async () => {
    const taken = await next(STEPS, [], script(RUN, RUN).decider, done);
    expect(statuses(taken.steps)).toEqual(['completed', 'running']);
    expect(taken.next).toEqual({ status: 'running' });
  });

  it('ends the run if an action fails', async () => {
    const failed = action('failed', { result: { success: false, message: 'No.' } });
    expect(await next(STEPS, [], script(RUN).decider, failed)).toMatchObject({
      steps: [{ position: 0, status: 'failed', error: 'No.' }],
      next: { status: 'failed' },
    });
  });
});
