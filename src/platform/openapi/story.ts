/**
 * The ids of the one story that the examples of all operations tell: a mail that imitates the head of the company is
 * reported, alice triages it and has it quarantined, bob approves what needs a second person, and it is resolved. A test
 * plays the story from its beginning to its end against a service that was just started.
 */
export const STORY = {
  alice: '019c0f6b-0e0b-7000-aeb1-463de7dfb006',
  dave: '019c0f6c-6d81-7000-a367-867fbed31391',
  session: '019c0f6d-58c7-7000-b669-ad112c05f6d1',
  apiKey: '019c0f70-8bc9-7000-abf8-dc46316c6a9f',
  admin: '019c0f6b-0a01-7000-8380-362a267fc567',
  firewall: '019c0f76-3100-7000-9d1c-2b8f0c5e7a41',
  sandbox: '019c0f76-7f32-7000-a6fc-8c66636c5ff5',
  falcon: '019c0f76-f461-7001-98d5-ea70e67f1252',
  alertIncident: '019c1363-49c4-7000-80d3-b16ed25eeb6c',
  queuedEvent: '019c1366-f342-7000-bd78-d2656b4b7e60',
  failedEvent: '019c1367-8f81-7000-a324-e53e82bc1d1b',
  mail: '019c136e-4646-7000-8bef-f694ee7f5fe3',
  strangeLogin: '019c136e-e282-7000-b7e3-8ce2a70ca496',
  triageRun: '019c1370-1b16-7000-910b-3c1821923f0f',
  queuedRun: '019c1370-b75a-7000-b7a5-ed43bb756c2c',
  playbook: '019c1388-8515-7000-ba4a-da75bde8a512',
  run: '019c138d-6704-7000-a012-264bc847fa9a',
  secondRun: '019c1392-4914-7000-8a5a-8357afd580bf',
  blockIp: 'act-019c1381-3205-7000-9df0-c9ba21d871b9',
  quarantine: 'act-019c1376-d1c4-7000-8dd0-de07b38bff1f',
  deleteMail: 'act-019c1377-6e09-7000-89aa-4c43e1776291',
  ticket: 'act-019c1378-0a42-7000-b34a-30a25612ab38',
  lookup: 'act-019c1379-42c5-7000-b532-9fcc047eebd7',
  blockDomain: 'act-019c1379-df03-7000-95ab-cb16f839afca',
  release: 'act-019c1382-6a87-7000-ade6-cc57dd873a1c',
  blockSender: 'act-019c1384-3f42-7000-94b0-69c43e86373b',
  unblockSender: 'act-019c1384-db83-7000-98b4-19150b6702f4',
  stepAction: 'act-019c138d-6714-7000-993d-b63f38c94f0a',
  secondStepAction: 'act-019c1392-4964-7000-beeb-c9d34146830c',
  lateBlock: 'act-019c139d-45e6-7000-ace2-1598329bfddd',
} as const;
