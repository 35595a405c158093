import type { OperationExamples } from '../openapi/operation-examples.js';

export const SERVICE_INDEX_EXAMPLES: OperationExamples = {
  getServiceIndex: {
    index: {
      summary: 'To a program',
      status: 200,
      answer: {
        data: {
          name: 'Incident Triage Service',
          version: '0.1.0',
          api: '/api',
          docs: '/docs',
          openapi: '/openapi.json',
          health: '/health',
        },
      },
    },
  },
};
