import { Injectable } from '@nestjs/common';

/** Does nothing. Tests replace it to stop a process at a point. */
@Injectable()
export class Failpoints {
  async hit(_point: number): Promise<void> {}
}
