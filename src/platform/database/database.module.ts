import { type DynamicModule, Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ReservedConnections } from './reserved-connections.js';
import { Statements } from './statements.js';
import { Transactions } from './transactions.js';

@Global()
@Module({})
export class DatabaseModule {
  /** The data source is opened and closed by whoever starts the app: see openDatabase. */
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
