import type { OperationObject } from '@nestjs/swagger';
import type { ExamplesByCase } from '../operation-examples.js';
import { curlSample } from './curl.js';
import { goSample } from './go.js';
import { pythonSample } from './python.js';
import { type Authentication, sampleRequest } from './sample-request.js';
import { typescriptSample } from './typescript.js';

/** How those who show documents know code samples. */
const SAMPLES_EXTENSION = 'x-codeSamples';

/** Makes code samples of the first example of an operation in which all goes well. */
export function addCodeSamples(
  operation: OperationObject,
  method: string,
  path: string,
  cases: ExamplesByCase = {},
): void {
  const first = Object.values(cases).find(({ status }) => status < 400) ?? {};
  const request = sampleRequest(method, path, waysOf(operation), first);
  const samples = [
    { lang: 'Shell', label: 'curl', source: curlSample(request) },
    { lang: 'TypeScript', label: 'TypeScript', source: typescriptSample(request) },
    { lang: 'Python', label: 'Python', source: pythonSample(request) },
    { lang: 'Go', label: 'Go', source: goSample(request) },
  ];
  Object.assign(operation, { [SAMPLES_EXTENSION]: samples });
}

function waysOf(operation: OperationObject) {
  return {
    authentication: authenticationOf(operation),
    repeatable: takesHeader(operation, 'Idempotency-Key'),
  };
}

/** Only a delivery of an event carries headers of a signature. */
function authenticationOf(operation: OperationObject): Authentication {
  if (operation.security?.some((way) => 'bearer' in way)) return 'key';
  return takesHeader(operation, 'X-Webhook-Signature') ? 'signature' : 'none';
}

const takesHeader = ({ parameters = [] }: OperationObject, header: string): boolean =>
  parameters.some((one) => 'name' in one && one.name === header);
