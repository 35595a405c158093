import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ReservedConnections } from './reserved-connections.js';
import { Statements } from './statements.js';
import { Transactions } from './transactions.js';

@Global()
@Module({})
export class DatabaseModule {
  /** Whoever starts the application opens and closes the data source: see openDatabase. */
  static with(dataSource: DataSource): DynamicModule {
    return {
      module: DatabaseModule,
      providers: [
        { provide: DataSource, useValue: dataSource },
        Transactions,
        Statements,
        ReservedConnections,
      ],
      exports: [DataSource, Transactions, Statements, ReservedConnections],
    };
  }
}
