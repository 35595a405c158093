import type { ExamplesByCase, OperationExamples } from './operation-examples.js';

const beginning: ExamplesByCase = {
  excerpt: {
    summary: 'Its beginning',
    status: 200,
    answer: { openapi: '3.0.3', info: { title: 'Incident Triage Service' } },
  },
};

export const CONTRACT_EXAMPLES: OperationExamples = {
  getOpenApiJson: beginning,
  getOpenApi31Json: beginning,
  getOpenApiYaml: beginning,
};
