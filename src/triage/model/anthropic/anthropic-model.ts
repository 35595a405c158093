import { randomBytes } from 'node:crypto';
import type { OutboundHttp } from '../../../platform/net/outbound-http.js';
import { promptFor } from '../../prompts/prompt.js';
import {
  type Judgement,
  type Judging,
  ModelUnavailableError,
  type TriageCase,
  TriageModel,
} from '../triage-model.port.js';
import { Conversation } from './conversation.js';
import { type AnthropicOptions, ProviderRequests } from './provider-requests.js';
import { ToolAnswers } from './tool-answers.js';

const NONCE_BYTES = 16;

/** A language model behind the Messages API. It only reads: what it may ask are the tools that it is given. */
export class AnthropicModel extends TriageModel {
  readonly provider = 'anthropic';
  readonly asksOutside = true;

  constructor(
    private readonly http: OutboundHttp,
    private readonly options: AnthropicOptions,
  ) {
    super();
  }

  get configuredModel(): string {
    return this.options.model;
  }

  async judge(given: TriageCase, { tools, gate, signal, meter }: Judging): Promise<Judgement> {
    const nonce = randomBytes(NONCE_BYTES).toString('hex');
    const prompt = promptFor(given, { nonce, tools });
    const requests = new ProviderRequests(this.options, this.http, gate, signal, meter);
    const answers = new ToolAnswers(tools, nonce, requests.signal);
    const conversation = new Conversation(this.options.model, prompt, tools, answers, requests);
    const { hash: promptHash } = prompt;
    meter?.asks({ model: conversation.model, promptHash });
    try {
      const verdict = await conversation.verdict();
      const { tokens } = requests;
      return {
        verdict,
        model: conversation.model,
        promptHash,
        tokens,
        toolCalls: answers.calls,
      };
    } catch (error) {
      meter?.asks({ model: conversation.model, promptHash });
      if (!(error instanceof ModelUnavailableError)) throw error;
      const extras = { ...error.extras, tokens: requests.tokens };
      throw new ModelUnavailableError(error.reason, error.message, extras);
    }
  }
}
