import { Controller, Get, Module, Param, Post } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { Public } from '../../src/platform/access/access.js';
import { Statements } from '../../src/platform/database/statements.js';
import { Transactions } from '../../src/platform/database/transactions.js';

const READ = { name: 'probe_read', text: 'select count(*)::int as rows from probe' };

/** Uses the database in each of the ways in which the service does, and in none other. */
@Controller('test-only/db')
@Public()
class DatabaseProbeController {
  constructor(
    private readonly statements: Statements,
    private readonly transactions: Transactions,
    private readonly dataSource: DataSource,
  ) {}

  @Get('statement')
  async statement(): Promise<unknown> {
    return (await this.statements.rows(READ))[0];
  }

  @Get('query')
  async query(): Promise<unknown> {
    return (await this.dataSource.query<unknown[]>(READ.text))[0];
  }

  @Post('write')
  write(): Promise<unknown> {
    return this.transactions.run(async (tx) => {
      await tx.query('insert into probe default values');
      return { written: 1 };
    });
  }

  /** Two writes with a pause between them, in which a test can do harm. */
  @Post('slow-write/:ms')
  slowWrite(@Param('ms') ms: string): Promise<unknown> {
    return this.transactions.run(async (tx) => {
      await tx.query('insert into probe default values');
      await sleep(Number(ms));
      await tx.query('insert into probe default values');
      return { written: 2 };
    });
  }
}

@Module({ controllers: [DatabaseProbeController] })
export class DatabaseProbeModule {}

export const PROBE_TABLE =
  'create table probe (id bigint generated always as identity primary key)';
export const PROBE_PATHS = /^\/test-only\/db\//;
