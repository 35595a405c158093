import { by, type Scene } from '../scene.js';

export const PEOPLE: readonly Scene[] = [
  by.admin('createUser', 201, {
    shows: ['analyst', 'An analyst'],
    body: { username: 'alice', password: 'orchid-Kayak7-lantern', role: 'analyst' },
    keeps: { alice: '/data/id' },
  }),
  by.admin('createUser', 409, {
    body: { username: 'alice', password: 'orchid-Kayak7-lantern', role: 'analyst' },
    code: 'conflict',
  }),
  by.admin('createUser', 422, {
    body: { username: 'erin', password: 'password1234', role: 'analyst' },
    code: 'weak_password',
  }),
  by.admin('createUser', 201, {
    body: { username: 'dave', password: 'orchid-Kayak7-lantern', role: 'viewer' },
    keeps: { dave: '/data/id' },
  }),
  by.admin('createUser', 201, {
    body: { username: 'bob', password: 'orchid-Kayak7-lantern', role: 'senior' },
  }),
  by.admin('createUser', 201, {
    body: { username: 'carol', password: 'orchid-Kayak7-lantern', role: 'manager' },
  }),
  by.nobody('getServiceIndex', 200, { shows: ['index', 'To a program'] }),
  by.nobody('getLoginPage', 200, { shows: ['page', 'The form'] }),
  by.nobody('logIn', 200, {
    shows: ['logged_in', 'As a program, with JSON'],
    body: { username: 'alice', password: 'orchid-Kayak7-lantern' },
  }),
  by.nobody('logIn', 401, {
    body: { username: 'alice', password: 'orchid-Kayak7-lamp' },
    code: 'invalid_credentials',
  }),
  by.nobody('logIn', 200, {
    headers: { 'user-agent': 'a browser' },
    body: { username: 'bob', password: 'orchid-Kayak7-lantern' },
  }),
  by.nobody('logIn', 200, {
    headers: { 'user-agent': 'a browser' },
    body: { username: 'carol', password: 'orchid-Kayak7-lantern' },
  }),
  by.nobody('logIn', 200, {
    headers: { 'user-agent': 'soc-dashboard/2.1' },
    body: { username: 'alice', password: 'orchid-Kayak7-lantern' },
  }),
  by.alice('getMe', 200, { shows: ['user', 'A person'] }),
  by.alice('listMySessions', 200, {
    shows: ['two', 'Logged in twice'],
    query: { per_page: '2' },
    keeps: { session: '/data/0/id' },
  }),
  by.alice('endMySession', 200, { shows: ['ended', 'The other one'], path: { id: '{session}' } }),
  by.alice('endMySession', 404, { path: { id: '{session}' }, code: 'not_found' }),
  by.alice('changeMyPassword', 200, {
    shows: ['changed', 'A new password'],
    body: { current_password: 'orchid-Kayak7-lantern', new_password: 'velvet-Tundra4-cymbal' },
  }),
  by.alice('changeMyPassword', 401, {
    body: { current_password: 'orchid-Kayak7-lantern', new_password: 'velvet-Tundra4-cymbal' },
    code: 'invalid_credentials',
  }),
  by.admin('createApiKey', 201, {
    shows: ['with_limits', 'For a program, with higher limits'],
    body: {
      name: 'siem-forwarder',
      role: 'analyst',
      expires_in_days: 365,
      limit_class: 'integration',
      limits: { write: 600 },
    },
    keeps: { apiKey: '/data/id' },
  }),
  by.admin('createApiKey', 409, {
    body: { name: 'siem-forwarder', role: 'analyst' },
    code: 'conflict',
  }),
  by.admin('listApiKeys', 200, {
    shows: ['made_by_admin', 'Those that one principal made'],
    query: { created_by: 'admin', sort: 'name' },
  }),
  by.admin('deleteApiKey', 200, { shows: ['revoked', 'It is revoked'], path: { id: '{apiKey}' } }),
  by.admin('deleteApiKey', 404, { path: { id: '{apiKey}' }, code: 'not_found' }),
  by.admin('listUsers', 200, { shows: ['newest', 'The newest'], query: { per_page: '1' } }),
  by.admin('getUser', 200, { shows: ['analyst', 'An analyst'], path: { id: '{alice}' } }),
  by.admin('updateUser', 200, {
    shows: ['promoted', 'Another role'],
    path: { id: '{dave}' },
    body: { role: 'analyst' },
  }),
  by.admin('updateUser', 200, {
    shows: ['disabled', 'Disable it'],
    path: { id: '{dave}' },
    body: { enabled: false },
  }),
  by.admin('deleteUser', 200, { shows: ['deleted', 'It is deleted'], path: { id: '{dave}' } }),
  by.admin('listUsers', 200, {
    query: { sort: 'username', per_page: '1' },
    keeps: { admin: '/data/0/id' },
  }),
  by.admin('deleteUser', 409, { path: { id: '{admin}' }, code: 'invalid_state' }),
  by.admin('updateUser', 409, {
    path: { id: '{admin}' },
    body: { role: 'viewer' },
    code: 'invalid_state',
  }),
  by.alice('listUsers', 403, { code: 'forbidden' }),
];
