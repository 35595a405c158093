import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Settings } from '../../platform/config/settings.js';
import { chosenProvider } from '../../platform/config/triage-settings.js';
import { WebhookSourcesRepository } from './webhook-sources.repository.js';

/** Tells at the start when sources want triage and nobody gives verdicts: their runs would wait unseen, and fail after a day. */
@Injectable()
export class NobodyTriages implements OnApplicationBootstrap {
  private readonly log = new Logger('Triage');

  constructor(
    private readonly settings: Settings,
    private readonly sources: WebhookSourcesRepository,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (chosenProvider(this.settings) !== 'none') return;
    const sources = await this.sources.namesWithAutoTriage();
    if (sources.length === 0) return;
    const names = sources.join(', ');
    this.log.warn(
      `Nobody triages what ${names} want triaged (auto_triage): set ANTHROPIC_API_KEY or TRIAGE_PROVIDER. Until then their runs wait, for a day at most.`,
    );
  }
}
