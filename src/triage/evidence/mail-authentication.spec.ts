import { cost, LINEAR } from '../../../test/support/cost.js';
import { mailAuthentication as readAuthentication } from './mail-authentication.js';
import { rawValues } from './raw-values.js';

const mailAuthentication = (rawData: unknown) => readAuthentication(rawValues(rawData).values);

const HEADER =
  'mx.example.net; spf=fail (mx.example.net: domain of ceo@evil.example (no; pass) does not permit) ' +
  'smtp.mailfrom=bounce@evil.example; dkim=pass header.d=mailer.example; dkim=fail header.i=@examp1e.com; dmarc=fail (p=NONE) header.from=examp1e.com';
/** Header of Exchange Online, which does not begin with the name of the server. */
const MICROSOFT =
  'spf=pass (sender IP is 198.51.100.7) smtp.mailfrom=example.com; dkim=pass (signature was verified) header.d=example.com;dmarc=pass action=none header.from=example.com;compauth=pass reason=100';

describe('mailAuthentication', () => {
  it('reads the header of a gateway', () => {
    const at = { said_by: 'header', pointer: '/headers/Authentication-Results' };
    expect(mailAuthentication({ headers: { 'Authentication-Results': HEADER } })).toEqual({
      spf: { result: 'fail', ...at },
      dkim: { result: 'pass', ...at },
      dmarc: { result: 'fail', ...at },
      pointers: [at.pointer],
    });
  });

  it('reads the header of Exchange Online', () => {
    expect(mailAuthentication({ authentication_results: MICROSOFT })).toMatchObject({
      spf: { result: 'pass' },
      dkim: { result: 'pass' },
      dmarc: { result: 'pass' },
      compauth: { result: 'pass' },
    });
  });

  it.each([
    [
      'a list of headers',
      {
        headers: [
          { name: 'From', value: 'x' },
          { name: 'Authentication-Results', value: HEADER },
        ],
      },
      '/headers/1/value',
    ],
    [
      'the head of a mail',
      {
        headers: `Received: x\r\nAuthentication-Results: mx.example.net;\r\n\tspf=fail\r\n\tsmtp.mailfrom=evil.example\r\n\r\nAuthentication-Results: spf=pass`,
      },
      '/headers',
    ],
    [
      'an object with names in any case',
      { headers: { 'AUTHENTICATION-RESULTS': HEADER } },
      '/headers/AUTHENTICATION-RESULTS',
    ],
    [
      'an object with several of a name',
      { headers: { 'authentication-results': [HEADER, 'x; spf=pass'] } },
      '/headers/authentication-results/0',
    ],
    [
      'a list of lines',
      {
        headers: [
          'Received: x',
          `Authentication-Results: ${HEADER}`,
          'Authentication-Results: spf=pass',
        ],
      },
      '/headers/1',
    ],
    ['one line of text', { headers: `Authentication-Results: ${HEADER}` }, '/headers'],
    [
      'a list as Microsoft Graph has it',
      { internetMessageHeaders: [{ name: 'Authentication-Results', value: HEADER }] },
      '/internetMessageHeaders/0/value',
    ],
    [
      'a list as Gmail has it',
      { payload: { headers: [{ name: 'Authentication-Results', value: HEADER }] } },
      '/payload/headers/0/value',
    ],
    [
      'a list with names in capitals',
      { Headers: [{ Name: 'Authentication-Results', Value: HEADER }] },
      '/Headers/0/Value',
    ],
    ['a whole mail', { eml: `Authentication-Results: ${HEADER}\n\nspf=pass` }, '/eml'],
    [
      'a field below',
      {
        email: {
          rawHeaders: 'A: b\nauthentication-results: x; spf=fail smtp.mailfrom=evil.example',
        },
      },
      '/email/rawHeaders',
    ],
  ])('finds the header in %s', (_, rawData, pointer) => {
    expect(mailAuthentication(rawData).spf).toEqual({
      result: 'fail',
      said_by: 'header',
      pointer,
    });
  });

  it.each([
    ['own fields', { spf: 'fail', dkim: 'none', dmarc: 'Fail', compauth: 'softpass' }],
    [
      'fields of results',
      { spf_result: 'FAIL', dkimResult: 'none', dmarc_status: 'failed', compauth: 'softpass' },
    ],
    [
      'objects',
      {
        authentication: {
          spf: { result: 'fail', domain: 'x' },
          dkim: { status: 'none' },
          dmarc: { verdict: 'FAIL' },
          compauth: { value: 'softpass' },
        },
      },
    ],
    [
      'fields with the names of Microsoft Graph',
      {
        authenticationDetails: {
          senderPolicyFramework: 'fail',
          dkim: 'none',
          dmarc: 'fail',
          compositeAuthentication: 'softpass',
        },
      },
    ],
    [
      'names with dots',
      {
        'email.authentication.spf': 'fail',
        'email.authentication.dkim': 'none',
        'email.dmarc.result': 'fail',
        'email.compauth': 'softpass',
      },
    ],
    ['one text', { auth: 'spf=fail dkim=none, dmarc=fail compauth=softpass' }],
    [
      'one text with colons',
      { auth_results: 'SPF: fail, DKIM: none, DMARC: fail, compauth: softpass' },
    ],
    [
      'JSON in a text',
      {
        AuthenticationDetails: '{"SPF":"fail","DKIM":"none","DMARC":"fail","CompAuth":"softpass"}',
      },
    ],
  ])('reads %s', (_, rawData) => {
    expect(mailAuthentication(rawData)).toMatchObject({
      spf: { result: 'fail' },
      dkim: { result: 'none' },
      dmarc: { result: 'fail' },
      compauth: { result: 'softpass' },
    });
  });

  it('prefers fields of the gateway to headers of the mail', () => {
    const { spf, dkim, dmarc } = mailAuthentication({
      headers: { 'Authentication-Results': MICROSOFT },
      spf: 'fail',
      dkim: 'fail',
    });
    expect(spf).toEqual({ result: 'fail', said_by: 'gateway', pointer: '/spf' });
    expect(dkim).toEqual({ result: 'fail', said_by: 'gateway', pointer: '/dkim' });
    expect(dmarc).toMatchObject({ result: 'pass' });
  });

  it('reads only the topmost header, because the sender may have written the others', () => {
    const headers = `Authentication-Results: mx.example.net; spf=fail\nAuthentication-Results: mx.example.net; spf=pass; dkim=pass`;
    const { spf, dkim } = mailAuthentication({ headers });
    expect(spf).toMatchObject({ result: 'fail' });
    expect(dkim).toBeUndefined();
  });

  it('reads fields that are true or false', () => {
    expect(mailAuthentication({ spf_pass: false, dkim_valid: true, dmarc: false })).toMatchObject({
      spf: { result: 'fail' },
      dkim: { result: 'pass' },
      dmarc: { result: 'fail' },
    });
  });

  it('never treats a value from the headers of a mail as a result of the gateway', () => {
    const forged = { dmarc: 'pass', 'X-Auth': 'x', spf: 'pass' };
    for (const headers of [forged, [{ name: 'dmarc', value: 'pass' }]]) {
      expect(mailAuthentication({ headers }).dmarc).toMatchObject({ said_by: 'header' });
      expect(mailAuthentication({ headers, dmarc: 'fail' }).dmarc).toMatchObject({
        result: 'fail',
      });
    }
    expect(mailAuthentication({ 'mail.headers.dmarc': 'pass' }).dmarc).toMatchObject({
      said_by: 'header',
    });
    const flat = { 'Authentication-Results': 'x; dmarc=pass' };
    expect(mailAuthentication(flat).dmarc).toMatchObject({ said_by: 'header' });
    const own = { authentication_results: 'x; dmarc=pass' };
    expect(mailAuthentication(own).dmarc).toMatchObject({ said_by: 'gateway' });
  });

  it('ignores results in quotation marks and in comments', () => {
    const header =
      'x; spf=fail (of "a\\) ; dmarc=pass) smtp.mailfrom="(; dkim=pass header.d=bank.example; \\" dmarc=pass"@evil.example; dmarc=fail';
    const read = mailAuthentication({ 'Authentication-Results': header });
    expect(read).toMatchObject({ spf: { result: 'fail' }, dmarc: { result: 'fail' } });
    expect(read.dkim).toBeUndefined();
  });

  it('returns fail if one header has both pass and fail for a method', () => {
    const header = 'x; dmarc=pass header.from=bank.example; dmarc=fail header.from=bank.example';
    expect(mailAuthentication({ 'Authentication-Results': header }).dmarc).toMatchObject({
      result: 'fail',
    });
  });

  it('reads Received-SPF if there is no newer header', () => {
    const headers = [{ name: 'Received-SPF', value: 'SoftFail (example.net: ...)' }];
    expect(mailAuthentication({ headers }).spf).toMatchObject({ result: 'softfail' });
  });

  it.each([
    undefined,
    null,
    'x',
    {},
    { spf: 17, dkim: {}, dmarc: null, compauth: ['?'] },
    { spf: 'passport', dkim: 'not a pass', dmarc: '' },
    { 'Authentication-Results': ';;;=;spf;spf=;=pass;spf=maybe;spf pass' },
    { AuthenticationDetails: '{"SPF":' },
    JSON.parse('{"__proto__":{"x":1},"constructor":"pass"}'),
  ])('finds nothing in %j', (rawData) => {
    expect(mailAuthentication(rawData)).toEqual({ pointers: [] });
  });

  it.each([
    ...['(', ')', ';', ' ', '=', 'spf=', '\n', '\r\n ', 'a:\n', '<', 'spf=pass;', 'spf=pass '],
    ...[' A-b: ', 'From: a@b.example ', '"'],
  ])('reads a mebibyte of %j in each header in linear time', async (part) => {
    const work = (length: number) => {
      const text = part.repeat(length / part.length);
      mailAuthentication({
        headers: text,
        'Authentication-Results': text,
        AuthenticationDetails: text,
        from: text,
        spf: text,
      });
    };
    expect(await cost(work, 1_048_576)).toBeLessThan(LINEAR);
  });

  it('ignores pass in a field that a stranger can write if a reliable field has another result', () => {
    const own = { spf: 'fail', dkim: 'none', dmarc: 'fail' };
    const forged = { spf: 'pass', dkim: 'pass', dmarc: 'pass', authentication_results: MICROSOFT };
    const { spf, dkim, dmarc } = mailAuthentication({ ...own, x_headers: forged });
    expect([spf, dmarc, dkim].map((one) => one!.result)).toEqual(['fail', 'fail', 'none']);
    const head = { headers: { 'Authentication-Results': HEADER }, cookies: forged };
    expect(mailAuthentication(head).dmarc).toMatchObject({ result: 'fail', said_by: 'header' });
    expect(mailAuthentication({ cookies: forged }).dmarc).toMatchObject({ said_by: 'header' });
  });

  it('treats the keys of a log line in JSON as fields that a stranger can write', () => {
    const line = { dmarc: 'pass', mail: { authentication: { spf: 'pass' } } };
    const wazuh = (decoder: string) =>
      mailAuthentication({ data: line, decoder: { name: decoder } });
    expect(wazuh('json').dmarc).toMatchObject({ said_by: 'header' });
    expect(wazuh('json').spf).toMatchObject({ said_by: 'header' });
    expect(wazuh('gateway').dmarc).toMatchObject({ said_by: 'gateway' });
    const alert = { data: line, decoder: { name: 'json' }, dmarc: 'fail' };
    expect(mailAuthentication(alert).dmarc).toMatchObject({ result: 'fail' });
  });

  it('returns the worst result, even from a field that a stranger can write', () => {
    const own = { spf: 'pass', dkim: 'pass', dmarc: 'pass' };
    const told = { original: { spf: 'fail', dkim: 'none', dmarc: 'fail' } };
    const results = (data: unknown) => {
      const { spf, dkim, dmarc } = mailAuthentication(data);
      return [spf, dkim, dmarc].map((one) => one!.result);
    };
    expect(results({ ...own, ...told })).toEqual(['fail', 'none', 'fail']);
    const milder = { a: { spf: 'none', dkim: 'pass', dmarc: 'none' } };
    expect(results({ ...milder, ...told })).toEqual(['fail', 'none', 'fail']);
  });

  it('finds the results of the gateway behind a flood of forged results', () => {
    const flood = Array.from({ length: 5_000 }, () => ({
      spf: 'pass',
      auth: 'spf=pass dkim=pass',
    }));
    const gateway = { alert: { mail: { authentication: { spf: 'fail', dkim: 'none' } } } };
    const { spf, dkim } = mailAuthentication({ parameters: flood, data: { event: gateway } });
    expect(spf).toMatchObject({ result: 'fail', said_by: 'gateway' });
    expect(dkim).toMatchObject({ result: 'none' });
  });
});
