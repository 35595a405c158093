import type { OperationExamples } from '../../platform/openapi/operation-examples.js';
import { STORY } from '../../platform/openapi/story.js';

export const INCIDENT_REPORT_EXAMPLES = {
  listIncidentReports: {
    none: {
      summary: 'No later event says anything else',
      path: { id: STORY.mail },
      status: 200,
      answer: { data: [], meta: { page: 1, per_page: 20, total: 0 } },
    },
  },
} as const satisfies OperationExamples;
