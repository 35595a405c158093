import type { PlaybookStep } from '../playbook.js';
import type { Decision, Outcomes } from '../language/decide-step.js';
import { foreseenMoves, type StepDecider } from './next-move.js';
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

/** Makes these decisions in their order, and keeps the outcomes that it was given. */
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

/** The first move if the results of actions are not known. */
async function nextMove(
  steps: readonly PlaybookStep[],
  taken: readonly ReachedStep[],
  decider: StepDecider,
) {
  return (await foreseenMoves(steps, taken, decider, () => undefined))[0]!;
}

describe('the next move of a run', () => {
  it('is the first step of a new run', async () => {
    const { next, settled } = await nextMove(STEPS, [], script(RUN).decider);
    expect(settled).toEqual([]);
    const parameters = { ip: '203.0.113.9' };
    expect(next).toMatchObject({ kind: 'act', position: 0, parameters, askedLevel: 'none' });
  });

  it('is the end of a playbook without steps', async () => {
    const { next } = await nextMove([], [], script().decider);
    expect(next).toEqual({ kind: 'end', status: 'completed' });
  });

  it('skips all steps whose condition is false', async () => {
    const { next, settled } = await nextMove(STEPS, [], script(SKIP, SKIP, RUN).decider);
    expect(settled.map(({ status }) => status)).toEqual(['skipped', 'skipped']);
    expect(next).toMatchObject({ kind: 'act', position: 2 });
  });

  it.each(['pending', 'pending_approval'] as const)(
    'is to wait while an action is %s',
    async (status) => {
      const { decider, told } = script();
      const { next } = await nextMove(STEPS, [reached(0, { action: action(status) })], decider);
      const shown = status === 'pending' ? 'running' : 'waiting_approval';
      expect(next).toEqual({ kind: 'wait', status: shown });
      expect(told).toEqual([]);
    },
  );

  it('completes a step whose action completed, and passes its result to the next step', async () => {
    const result = { success: true, message: 'Found.', data: { malicious: 3 } };
    const { decider, told } = script(RUN);
    const open = reached(0, { action: action('completed', { result }) });
    const { next, settled } = await nextMove(STEPS, [open], decider);
    expect(settled).toEqual([{ position: 0, name: 's0', action_id: 'a', status: 'completed' }]);
    expect(next).toMatchObject({ kind: 'act', position: 1, askedLevel: 'analyst' });
    expect(told).toEqual([{ s0: { result } }]);
  });

  it('ends the run if an action fails, with the name of the step', async () => {
    const result = { success: false, message: 'The vendor said no.' };
    const open = reached(0, { action: action('failed', { result }) });
    const { next, settled } = await nextMove(STEPS, [open], script().decider);
    expect(settled).toMatchObject([{ status: 'failed', error: 'The vendor said no.' }]);
    expect(next).toEqual({
      kind: 'end',
      status: 'failed',
      error: 'The step s0 failed: The vendor said no.',
    });
  });

  it('continues after a failed step with on_error continue, and passes its result to later steps', async () => {
    const result = { success: false, message: 'The vendor said no.' };
    const { decider, told } = script(RUN);
    const steps = [step('s0', 'continue'), step('s1')];
    const open = reached(0, { action: action('failed', { result }) });
    const { next } = await nextMove(steps, [open], decider);
    expect(next).toMatchObject({ kind: 'act', position: 1 });
    expect(told).toEqual([{ s0: { result } }]);
  });

  it('has the name of the person who rejected an action', async () => {
    const rejected = action('rejected', { rejected_by: 'bob', rejection_reason: 'Not this host.' });
    const { decider, told } = script(RUN);
    const steps = [step('s0', 'continue'), step('s1')];
    const { settled } = await nextMove(steps, [reached(0, { action: rejected })], decider);
    expect(settled).toMatchObject([{ error: 'Rejected by bob: Not this host.' }]);
    expect(told[0]!['s0']!.result).toEqual({
      success: false,
      message: 'Rejected by bob: Not this host.',
    });
  });

  it('requests the action again if the shared action was rejected for another incident, but not if it expired', async () => {
    const steps = [step('s0')];
    const shared = { borrowed: true, elsewhere: true };
    const rejected = action('rejected', { rejected_by: 'bob', rejection_reason: 'No.', ...shared });
    const again = await nextMove(steps, [reached(0, { action: rejected })], script(RUN).decider);
    expect([again.settled, again.next.kind]).toEqual([[], 'act']);
    const expired = action('rejected', {
      ...{ rejected_by: 'system', rejection_reason: 'Too late.', rejection_code: 'expired' },
      ...shared,
    });
    const ended = await nextMove(steps, [reached(0, { action: expired })], script(RUN).decider);
    expect(ended.settled).toMatchObject([{ status: 'failed' }]);
    expect(ended.next).toMatchObject({ kind: 'end', status: 'failed' });
  });

  it('ends the run at a step that cannot be evaluated', async () => {
    const { next, settled } = await nextMove(STEPS, [], script(error()).decider);
    expect(settled).toEqual([{ position: 0, name: 's0', status: 'failed', error: 'no such key' }]);
    expect(next).toMatchObject({ kind: 'end', status: 'failed' });
  });

  it('continues after a step with on_error continue that cannot be evaluated', async () => {
    const steps = [step('s0', 'continue'), step('s1')];
    const { decider, told } = script(error(), SKIP);
    const { next, settled } = await nextMove(steps, [], decider);
    expect(settled.map(({ status }) => status)).toEqual(['failed', 'skipped']);
    expect(next).toEqual({ kind: 'end', status: 'completed' });
    expect(told[1]).toEqual({ s0: { result: { success: false, message: 'no such key' } } });
  });

  it('passes no result of a skipped step', async () => {
    const { decider, told } = script(RUN);
    await nextMove(STEPS, [reached(0, { status: 'skipped' })], decider);
    expect(told).toEqual([{ s0: {} }]);
  });

  it('does not change a step that has ended', async () => {
    const before = reached(0, {
      status: 'failed',
      error: 'x',
      action: action('failed', { result: { success: false, message: 'x' } }),
    });
    const { next, settled } = await nextMove(STEPS, [before], script(RUN).decider);
    expect(settled).toEqual([]);
    expect(next).toMatchObject({ kind: 'act', position: 1 });
  });

  it('shortens a long message of a vendor', async () => {
    const result = { success: false, message: 'x'.repeat(100_000) };
    const open = reached(0, { action: action('failed', { result }) });
    const { settled } = await nextMove(STEPS, [open], script().decider);
    expect(settled[0]!.error).toHaveLength(1_000);
  });
});

describe('the moves of a run that can be foreseen', () => {
  const done = () => ({ success: true, message: 'Simulated.', simulated: true }) as const;
  const kinds = (moves: readonly { readonly next: { readonly kind: string } }[]) =>
    moves.map(({ next }) => next.kind);

  it('continue to the end if actions end with their creation', async () => {
    const { decider, told } = script(RUN, SKIP, RUN);
    const moves = await foreseenMoves(STEPS, [], decider, done);
    expect(kinds(moves)).toEqual(['act', 'act', 'end']);
    expect(moves[1]!.settled).toMatchObject([
      { position: 0, status: 'completed' },
      { position: 1, status: 'skipped' },
    ]);
    expect(moves[2]!.settled).toMatchObject([{ position: 2, status: 'completed' }]);
    expect(told[2]).toEqual({ s0: { result: done() }, s1: {} });
  });

  it('stop at an action whose connector is called', async () => {
    const called = (one: PlaybookStep) => (one.name === 's1' ? undefined : done());
    const moves = await foreseenMoves(STEPS, [], script(RUN, RUN).decider, called);
    expect(kinds(moves)).toEqual(['act', 'act']);
  });

  it('stop with the end of the run if an action fails', async () => {
    const fails = () => ({ success: false, message: 'No.' });
    const moves = await foreseenMoves(STEPS, [], script(RUN).decider, fails);
    expect(moves[1]).toMatchObject({
      settled: [{ position: 0, status: 'failed', error: 'No.' }],
      next: { kind: 'end', status: 'failed' },
    });
  });

  it('are fewer than 20', async () => {
    const steps = Array.from({ length: 50 }, (_, at) => step(`s${at}`));
    const { decider } = script(...steps.map(() => RUN));
    const moves = await foreseenMoves(steps, [], decider, done);
    expect(moves.length).toBeLessThan(20);
    expect(moves.at(-1)!.next.kind).toBe('act');
  });
});
