import { loadSettings } from './load-settings.js';
import { otlpHeaders } from './tracing-settings.js';

describe('the settings of traces', () => {
  it('reads headers as OpenTelemetry writes them', () => {
    expect(otlpHeaders.read('authorization=Bearer%20a%3Db, x-site = soc=1')).toEqual({
      authorization: 'Bearer a=b',
      'x-site': 'soc=1',
    });
    const mean = otlpHeaders.read('__proto__=1');
    expect(Object.keys(mean)).toEqual(['__proto__']);
  });

  it.each(['secret', '=secret', 'a b=secret', 'a=secret,', 'a=secret%0d%0ab', 'a=secret%', 'a='])(
    'refuses %j without repeating it',
    (given) => {
      const load = () => loadSettings({ OTEL_EXPORTER_OTLP_HEADERS: given });
      expect(load).toThrow(/^OTEL_EXPORTER_OTLP_HEADERS must be headers/);
      expect(load).not.toThrow(/secret/);
    },
  );

  it.each(['0', '1', '0.25', '.5', '1.0'])('takes the share %s', (given) => {
    const { otelTracesSamplerArg } = loadSettings({ OTEL_TRACES_SAMPLER_ARG: given });
    expect(otelTracesSamplerArg).toBe(Number(given));
  });

  it.each([
    { OTEL_TRACES_SAMPLER_ARG: '1.1' },
    { OTEL_TRACES_SAMPLER_ARG: '-0.1' },
    { OTEL_TRACES_SAMPLER_ARG: '1e-1' },
    { OTEL_TRACES_SAMPLER_ARG: '.' },
    { OTEL_TRACES_SAMPLER: 'sometimes' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:password@collector:4318' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318?key=1' },
  ])('refuses %j', (given) => expect(() => loadSettings(given)).toThrow(/ must be /));
});
