import { type ModuleContract, answer } from '../platform/openapi/module-contract.js';

/** What the contract says about this module beside its DTOs and controllers. */
export const DEAD_JOBS_CONTRACT: ModuleContract = {
  ids: { dead: { what: 'job', schema: 'DeadJobId' } },
  schemas: {
    DeadJob: 'A job of the service that failed at each of its attempts.',
    RequeuedJob: 'That the job is tried again.',
  },
  fields: {
    'DeadJob.created_at': 'When it failed for good.',
    enqueued_at: 'When the job was put into its queue first.',
    queue: 'What kind of job it is.',
  },
  links: [
    {
      from: 'listDeadJobs',
      on: [200],
      to: ['requeueDeadJob'],
      parameters: { id: answer('/data/0/id') },
      why: 'The first of the list.',
    },
  ],
};
