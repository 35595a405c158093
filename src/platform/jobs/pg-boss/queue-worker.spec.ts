import { RecordedSpans } from '../../../../test/support/traces/recorded-spans.js';
import { traced } from '../../tracing/tracing.js';
import { withoutTrace, withTrace } from './queue-worker.js';

describe('the trace of a job', () => {
  const data = { eventId: 'event-1' };

  it('is stored beside the data and removed before the job runs', async () => {
    const spans = RecordedSpans.begin();
    const work = () => ({ name: 'request', kind: 'server' as const });
    const [stored, link] = await traced(work, async (span) => [withTrace(data), span?.traceparent]);
    spans.end();
    expect(stored).toEqual({ ...data, traceparent: link });
    expect(withoutTrace(stored)).toEqual({ data, links: [link] });
  });

  it('is absent without tracing, or if the enqueuing code has no trace', () => {
    expect(withTrace(data)).toBe(data);
    const spans = RecordedSpans.begin();
    expect(withTrace(data)).toBe(data);
    spans.end();
    expect(withoutTrace(data)).toEqual({ data, links: [] });
  });
});
