import { type OperationExamples, refused } from '../../platform/openapi/operation-examples.js';

/** Pages are for people: the document shows no example of one, but samples read it. */
const PAGE = { status: 200, answer: '<!doctype html>' };

export const LOGIN_EXAMPLES: OperationExamples = {
  getLoginPage: { page: { summary: 'The form', ...PAGE } },
  getPasswordPage: { page: { summary: 'The form', session: true, ...PAGE } },
  logIn: {
    logged_in: {
      summary: 'As a program, with JSON',
      body: { username: 'alice', password: 'orchid-Kayak7-lantern' },
      status: 200,
      answer: {
        data: {
          principal: { name: 'alice', kind: 'user', role: 'analyst', approval_level: 'analyst' },
          expires_at: '2026-01-31T15:02:00.098Z',
        },
      },
    },
    invalid_credentials: {
      summary: 'A wrong name or password',
      body: { username: 'alice', password: 'orchid-Kayak7-lamp' },
      status: 401,
      answer: refused('invalid_credentials', 'The user name or the password is wrong.'),
    },
  },
  changePasswordByForm: {
    changed: {
      summary: 'A new password, with JSON',
      session: true,
      body: { current_password: 'orchid-Kayak7-lantern', new_password: 'velvet-Tundra4-cymbal' },
      status: 200,
      answer: { data: { name: 'carol', kind: 'user', role: 'manager', approval_level: 'manager' } },
    },
  },
  logOut: {
    logged_out: {
      summary: 'The session has ended',
      session: true,
      status: 200,
      answer: { data: { logged_out: true } },
    },
  },
};
