import { RecordedSpans } from '../../../../test/support/traces/recorded-spans.js';
import { traced } from '../../tracing/tracing.js';
import { withoutTrace, withTrace } from './job-trace.js';

describe('the trace of a job', () => {
  const data = { eventId: 'event-1' };

  it('is kept beside its data, and is not among it when it runs', async () => {
    const spans = RecordedSpans.begin();
    const work = () => ({ name: 'request', kind: 'server' as const });
    const [stored, link] = await traced(work, async (span) => [withTrace(data), span?.traceparent]);
    spans.end();
    expect(stored).toEqual({ ...data, traceparent: link });
    expect(withoutTrace(stored)).toEqual({ data, links: [link] });
  });

  it('is none when nobody traces, or when what enqueues it has no trace', () => {
    expect(withTrace(data)).toBe(data);
    const spans = RecordedSpans.begin();
    expect(withTrace(data)).toBe(data);
    spans.end();
    expect(withoutTrace(data)).toEqual({ data, links: [] });
  });
});
