import { loadSettings } from '../config/settings.js';
import { eventually } from '../../../test/support/jobs/eventually.js';
import { OtlpCollector } from '../../../test/support/traces/otlp-collector.js';
import { startTracing } from './open-telemetry.js';
import { beginSpan, inSpan, isTracing, outsideTraces, presentSpan, traced } from './tracing.js';

const CALLERS = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7';
const KEY = 'key-that-nobody-may-see';

describe('tracing', () => {
  let collector: OtlpCollector;
  let said: string[];
  let end: () => Promise<void> = async () => undefined;

  beforeEach(async () => {
    collector = await OtlpCollector.start();
    said = [];
  });
  afterEach(async () => {
    await end();
    await collector.stop();
    jest.restoreAllMocks();
  });

  async function start(more: Readonly<Record<string, string>> = {}): Promise<void> {
    // The SDK itself reads further environment variables.
    jest.replaceProperty(process, 'env', more);
    const settings = loadSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`, ...more });
    const say = (line: string) => void said.push(line);
    end = startTracing(settings.otelExporterOtlpEndpoint!, { info: say, warn: say });
  }

  const work = (name: string) => ({ name, kind: 'internal' as const });
  const spend = (count: number): void => {
    for (let n = 0; n < count; n += 1) beginSpan(work('spent'))!.end();
  };

  it('does nothing without a collector', async () => {
    expect([isTracing(), presentSpan(), beginSpan(work('none'))]).toEqual([
      false,
      undefined,
      undefined,
    ]);
    expect(
      await traced(
        () => work('none'),
        async (span) => span ?? 'no span',
      ),
    ).toBe('no span');
  });

  it('sends the remaining spans when it ends, with the service name and the headers', async () => {
    const headers = `x-key=${encodeURIComponent(`${KEY},=`)},x-site=soc`;
    await start({ OTEL_EXPORTER_OTLP_HEADERS: headers, OTEL_SERVICE_NAME: 'triage-north' });
    await traced(
      () => work('outer'),
      () =>
        traced(
          () => work('inner'),
          async () => undefined,
        ),
    );
    await end();
    const [inner, outer] = collector.spans;
    expect([inner!.name, outer!.name]).toEqual(['inner', 'outer']);
    expect(inner).toMatchObject({ parentId: outer!.id, traceId: outer!.traceId });
    expect(collector.resources[0]).toMatchObject({ 'service.name': 'triage-north' });
    expect(collector.headers[0]).toMatchObject({ 'x-key': `${KEY},=`, 'x-site': 'soc' });
    expect(isTracing()).toBe(false);
  });

  it('records a failure by its code, without its message', async () => {
    await start();
    const failure = Object.assign(new Error(`It has ${KEY}.`), { code: '23505' });
    await expect(
      traced(
        () => work('failing'),
        () => Promise.reject(failure),
      ),
    ).rejects.toBe(failure);
    await end();
    expect(collector.spans[0]).toMatchObject({
      isError: true,
      attributes: { 'error.type': '23505' },
    });
    expect(collector.raw).not.toContain(KEY);
  });

  it('does not add later work to a span that has ended', async () => {
    await start();
    const request = beginSpan({ ...work('request'), kind: 'server' })!;
    await inSpan(request, async () => {
      expect(presentSpan()).toBe(request);
      request.end();
      expect(presentSpan()).toBeUndefined();
      expect(beginSpan(work('later'))!.traceId).not.toBe(request.traceId);
    });
  });

  it('runs shared work outside the trace of the request that caused it', async () => {
    await start();
    const request = beginSpan(work('request'))!;
    expect(inSpan(request, () => outsideTraces(() => presentSpan()))).toBeUndefined();
  });

  it('truncates long attributes', async () => {
    await start();
    beginSpan({ ...work('long'), attributes: { text: 'x'.repeat(100_000) } })!.end();
    await end();
    expect(collector.spans[0]!.attributes['text']).toHaveLength(4_096);
  });

  it('does not sample a trace that the caller left unsampled', async () => {
    await start();
    const flagsOf = (traceparent?: string): string =>
      beginSpan({ ...work('sampled'), kind: 'server', traceparent })!.traceparent.slice(-2);
    const flags = [flagsOf(), flagsOf(`${CALLERS}-01`), flagsOf(`${CALLERS}-00`)];
    expect(flags).toEqual(['01', '01', '00']);
  });

  it('logs once, without the key, that the collector rejects spans, and once that it accepts spans again', async () => {
    collector.behaviour = 'refuse';
    await start({ OTEL_EXPORTER_OTLP_HEADERS: `x-key=${KEY}` });
    const refused = async (times: number): Promise<void> => {
      while (collector.headers.length < times) {
        spend(1);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await refused(2);
    collector.behaviour = 'take';
    spend(1);
    await collector.spanWith(() => true);
    await end();
    expect(said).toEqual([
      expect.stringMatching(/^The collector does not accept traces, so they are dropped: ./),
      'The collector accepts traces again.',
    ]);
    expect(said.join()).not.toContain(KEY);
  });

  it('keeps a limited number of spans while the collector hangs, and does not wait for the collector when the service stops', async () => {
    collector.behaviour = 'hang';
    await start({ OTEL_EXPORTER_OTLP_TIMEOUT: '3000' });
    spend(10_000);
    while (collector.headers.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    collector.behaviour = 'take';
    await end();
    // The hanging request is still running and is reported after its timeout.
    expect(said).toEqual([]);
    await eventually(
      () => collector.spans.length,
      (count) => count >= 2_048,
    );
    expect(collector.spans).toHaveLength(2_048);
    await eventually(
      () => said,
      ({ length }) => length === 1,
    );
  });

  it('ends if nobody listens at the address', async () => {
    await start({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    });
    spend(10_000);
    await end();
    expect(said.length).toBeLessThan(2);
  });
});
