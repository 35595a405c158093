import { Body, Controller, Get, HttpCode, Injectable, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { setTimeout as sleep } from 'node:timers/promises';
import { Requires } from '../../src/platform/access/access.js';
import { AppError, NotFoundError } from '../../src/platform/errors/app-error.js';
import { Text, WholeNumber } from '../../src/platform/validation/fields.js';
import {
  type Participant,
  Transactions,
  type Tx,
} from '../../src/platform/database/transactions.js';
import { Idempotent, type Idempotency } from '../../src/platform/idempotency/idempotency.js';
import { IdempotencyRepository } from '../../src/platform/idempotency/idempotency.repository.js';
import { IdempotencyGuard } from '../../src/platform/idempotency/idempotency.guard.js';
import { SecretsModule } from '../../src/platform/platform.module.js';
import { type BareApp, startBareApp } from './bare-app.js';

/** Handlers of `POST /notes/slow` wait for the promise of their text instead of `ms`. */
export const heldNotes = new Map<string, Promise<void>>();

class NoteDto {
  @Text()
  readonly text: string;

  /** How long the transaction takes. */
  @WholeNumber({ optional: true })
  readonly ms?: number;

  @Text({ optional: true })
  readonly fail?: string;
}

interface Note {
  readonly id: number;
  readonly text: string;
}

@Injectable()
class Notes {
  constructor(readonly transactions: Transactions) {}

  async insert(tx: Tx, text: string): Promise<Note> {
    const [note] = await tx.query<Note[]>(
      'insert into notes (text) values ($1) returning id, text',
      [text],
    );
    return note!;
  }

  create({ text, ms = 0, fail }: NoteDto, idempotency: Participant<Note>): Promise<Note> {
    return this.transactions.run(async (tx) => {
      const note = await this.insert(tx, text);
      if (ms > 0) await tx.query('select pg_sleep($1)', [ms / 1000]);
      if (fail === 'conflict') throw new AppError('conflict', 'The name is taken.');
      if (fail === 'broken') throw new Error('broken');
      return note;
    }, idempotency);
  }
}

@Controller('notes')
@Requires('analyst')
class NotesController {
  constructor(private readonly notes: Notes) {}

  @Post()
  create(@Body() body: NoteDto, @Idempotent() idempotency: Idempotency): Promise<Note> {
    return this.notes.create(
      body,
      idempotency.remember((note) => note),
    );
  }

  @Post('secrets')
  secret(@Body() body: NoteDto, @Idempotent() idempotency: Idempotency): Promise<Note> {
    return this.notes.create(
      body,
      idempotency.remember((note) => note, { secret: true }),
    );
  }

  /** Waits for something outside between two transactions; `fail` says how that ends. */
  @Post('slow')
  @HttpCode(200)
  async slow(
    @Body() { text, ms = 0, fail }: NoteDto,
    @Idempotent() idempotency: Idempotency,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    const { transactions } = this.notes;
    const provisional = idempotency.remember(({ id }: Note) => ({ id, status: 'pending' }), {
      status: 202,
      provisionalForMs: 2_000,
    });
    const { id } = await transactions.run((tx) => this.notes.insert(tx, text), provisional);
    await (heldNotes.get(text) ?? sleep(ms));
    if (fail === 'nothing') {
      await transactions.run(async () => undefined, idempotency.release());
      throw new AppError('ai_unavailable', 'The model does not answer.');
    }
    if (fail === 'unknown') throw new Error('broken');
    if (fail === 'pending') {
      void reply.status(202);
      return { id, status: 'pending', told: true };
    }
    return transactions.run(
      async () => ({ id, status: 'completed' }),
      idempotency.remember((result: object) => result, { status: 200 }),
    );
  }

  @Post(':id/copies')
  async copy(@Param('id') id: string, @Idempotent() idempotency: Idempotency): Promise<Note> {
    return this.notes.transactions.run(
      async (tx) => {
        const [note] = await tx.query<Note[]>('select text from notes where id = $1', [id]);
        if (!note) throw new NotFoundError('Note');
        return this.notes.insert(tx, note.text);
      },
      idempotency.remember((note) => note),
    );
  }

  @Get()
  list(): Promise<Note[]> {
    return this.notes.transactions.run((tx) => tx.query<Note[]>('select * from notes order by id'));
  }
}

export const CREATE_NOTES = 'create table if not exists notes (id serial primary key, text text)';

/** A replica of a tiny service with effects in the database, for Idempotency-Key. */
export function startNotesApp(
  database: { readonly url: string },
  settings: Readonly<Record<string, string>> = {},
): Promise<BareApp> {
  return startBareApp({
    database,
    settings: { DATABASE_POOL_SIZE: '10', ...settings },
    imports: [SecretsModule],
    controllers: [NotesController],
    providers: [IdempotencyRepository, Notes],
    guards: [IdempotencyGuard],
  });
}
