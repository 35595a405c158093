import { Injectable } from '@nestjs/common';
import type { ActionTypeName } from '../../../action-catalogue/action-types.js';
import type { Gate } from '../../../platform/net/outbound-request.js';
import { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { AnswerShapeError, textAt, valueAt } from '../../calls/vendor-answers.js';
import { RefusedError, testResult, unlessRefused } from '../../calls/vendor-answers.js';
import { type ApiRequest, fixedCredentials, VendorApi } from '../../calls/vendor-api.js';
import { VendorCalls } from '../../calls/vendor-calls.js';
import { SHORTEST_SECRET, type Config, type ConfigSchema } from '../../../targets/target-config.js';
import {
  type ActionCall,
  Connector,
  type ConnectorIdentity,
  type Outcome,
  type TestResult,
  TEST_TIMEOUT_MS,
  ConnectorType,
} from '../../connector-type.js';
import { isChannel, slackText } from './slack-text.js';

interface SlackConfig {
  readonly base_url?: string;
  readonly bot_token: string;
}

const BASE_URL = 'https://slack.com/api';
/** Slack cuts longer messages silently. */
const LONGEST_TEXT = 40_000;
/** Errors after which the message may have been posted. After all other errors it was not. */
const UNCLEAR = new Set([
  'fatal_error',
  'internal_error',
  'request_timeout',
  'service_unavailable',
]);

/** Posts plain text into channels. */
export class SlackConnector extends Connector {
  private readonly api: VendorApi;

  constructor(identity: ConnectorIdentity, config: SlackConfig, calls: VendorCalls) {
    super(identity);
    const { base_url: baseUrl = BASE_URL, bot_token } = config;
    this.api = new VendorApi(calls, {
      vendor: 'Slack',
      baseUrl,
      credentials: fixedCredentials({ authorization: `Bearer ${bot_token}` }),
      secrets: [bot_token],
      complaintIn,
    });
  }

  provides(type: ActionTypeName): boolean {
    return type === 'notify_channel';
  }

  /** Slack posts a repeated message twice. */
  idempotent(): boolean {
    return false;
  }

  execute({ parameters }: ActionCall, gate: Gate): Promise<Outcome> {
    return unlessRefused(async () => {
      const request = postOf(String(parameters.channel), String(parameters.message));
      return await this.api.change(gate, { ...request, idempotent: false }, postedIn);
    });
  }

  test(): Promise<TestResult> {
    return testResult(async () => {
      const request = { method: 'POST', path: ['auth.test'], timeoutMs: TEST_TIMEOUT_MS } as const;
      await this.api.ask(undefined, request, (json) => {
        refuseFailures(json);
        return textAt(json, 'team_id');
      });
      return 'Slack accepts the token.';
    });
  }
}

function postOf(channel: string, message: string): ApiRequest {
  if (!isChannel(channel)) throw new RefusedError('The channel must be a name or an id (C…).');
  const text = slackText(message);
  if (text.length > LONGEST_TEXT) {
    throw new RefusedError(`A Slack message must have at most ${LONGEST_TEXT} characters.`);
  }
  const plain = { mrkdwn: false, parse: 'none', link_names: false };
  const body = { channel, text, ...plain, unfurl_links: false, unfurl_media: false };
  return { method: 'POST', path: ['chat.postMessage'], body };
}

function postedIn(json: unknown): Outcome {
  refuseFailures(json);
  const data = { channel: textAt(json, 'channel'), ts: textAt(json, 'ts') };
  return { kind: 'done', message: 'Slack posted the message.', data };
}

/** A response with status 200 is a success only if `ok` is true. */
function refuseFailures(json: unknown): void {
  if (valueAt(json, 'ok') === true) return;
  const error = valueAt(json, 'error');
  // Other words may contain a secret.
  const said = typeof error === 'string' && UNCLEAR.has(error) ? `: ${error}` : '';
  throw new AnswerShapeError(`Slack did not confirm the message${said}.`);
}

/** https://docs.slack.dev/reference/methods/chat.postMessage#errors */
function complaintIn(json: unknown): string | undefined {
  const error = valueAt(json, 'error');
  if (valueAt(json, 'ok') !== false || typeof error !== 'string') return undefined;
  return UNCLEAR.has(error) ? undefined : error;
}

const SLACK_SCHEMA: ConfigSchema = {
  type: 'object',
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      minLength: 8,
      maxLength: 2_000,
      default: BASE_URL,
      description: 'Address of the Slack API.',
    },
    bot_token: {
      type: 'string',
      pattern: '^[\\x21-\\x7e]+$',
      minLength: SHORTEST_SECRET,
      maxLength: 500,
      writeOnly: true,
      description: 'Bot token (xoxb-…) of an app with the scope chat:write.',
    },
  },
  required: ['bot_token'],
  additionalProperties: false,
};

@Injectable()
export class SlackType extends ConnectorType {
  readonly name = 'slack';
  readonly description = 'Slack: posts plain text into channels of which the bot is a member.';
  readonly actions = ['notify_channel'] as const;
  readonly destinations = [{ address: 'base_url' }];

  readonly schema = SLACK_SCHEMA;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  create(identity: ConnectorIdentity, config: Config): Connector {
    const calls = new VendorCalls(this.http);
    return new SlackConnector(identity, config as unknown as SlackConfig, calls);
  }
}
