import { Injectable } from '@nestjs/common';

/** Set when the service was told to stop: readiness fails from then on, while running requests finish. */
@Injectable()
export class Draining {
  private flag = false;

  get begun(): boolean {
    return this.flag;
  }

  begin(): void {
    this.flag = true;
  }
}
