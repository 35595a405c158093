import { Injectable } from '@nestjs/common';
import type { ReceivingSource } from './webhook-source.js';

/** Where a receipt finds its source. */
@Injectable()
export class SourceDirectory {
  find(_name: string): Promise<ReceivingSource | undefined> {
    return Promise.resolve(undefined);
  }
}
