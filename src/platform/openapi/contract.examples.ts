import type { ExamplesByCase, OperationExamples } from './operation-examples.js';

const beginningOf = (openapi: string): ExamplesByCase => ({
  excerpt: {
    summary: 'Its beginning',
    status: 200,
    answer: { openapi, info: { title: 'Incident Triage Service' } },
  },
});

export const CONTRACT_EXAMPLES: OperationExamples = {
  getOpenApiJson: beginningOf('3.0.3'),
  getOpenApiYaml: beginningOf('3.0.3'),
  getOpenApi31Json: beginningOf('3.1.1'),
};
