import type { ExamplesByCase, OperationExamples } from '../openapi/operation-examples.js';

const excerpt: ExamplesByCase = {
  excerpt: {
    summary: 'One of them',
    status: 200,
    answer: '# TYPE http_requests_in_flight gauge\nhttp_requests_in_flight 1\n',
  },
};

export const METRICS_EXAMPLES: OperationExamples = {
  getMetrics: excerpt,
  getMetricsUnderApi: excerpt,
};
