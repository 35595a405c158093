import type { AuditEntry } from '../../audit/audit-entry.js';
import type { Refusal } from './refusal.js';

const SUBJECTS = { principal: 'principal', account: 'user', stranger: 'address' } as const;

interface Count {
  readonly action: AuditEntry['action'];
  readonly subject: AuditEntry['subject'];
  leftOut: number;
  from: number;
  to: number;
}

/** How many refusals of which kind were not written, and in which time. */
export class LeftOut {
  private readonly counts = new Map<string, Count>();

  /** `named`: by the name that it is about. Of the others only how many there were: strangers have names without end. */
  add({ entry, by, name }: Refusal, named: boolean, at: Date, times = 1): void {
    const subject = { type: SUBJECTS[by], id: named ? name : 'several' };
    this.merge({ action: entry.action, subject, leftOut: times, from: +at, to: +at });
  }

  addAll(other: LeftOut): void {
    for (const count of other.counts.values()) this.merge(count);
  }

  entries(): AuditEntry[] {
    return [...this.counts.values()].map(({ action, subject, leftOut, from, to }) => ({
      actor: 'system',
      action: 'auth.refusals_counted',
      subject,
      details: {
        refusals: action,
        left_out: leftOut,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
      },
    }));
  }

  private merge(count: Count): void {
    const kind = `${count.action} ${count.subject.type} ${count.subject.id}`;
    const known = this.counts.get(kind);
    if (!known) {
      this.counts.set(kind, { ...count });
      return;
    }
    known.leftOut += count.leftOut;
    known.from = Math.min(known.from, count.from);
    known.to = Math.max(known.to, count.to);
  }
}
