import { DATABASE, SERVICE_ROLE } from './cluster.js';

/** By password, from this machine, the application's roles only. */
export const HOST_BASED_ACCESS = [DATABASE, SERVICE_ROLE]
  .map((role) => `local all ${role} scram-sha-256\nhost all ${role} 127.0.0.1/32 scram-sha-256\n`)
  .join('');

/** For one application on a small machine; what is safe by default (fsync, checksums, full page writes) stays so. */
export const SMALL_SERVER: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  max_connections: '60',
  shared_buffers: '64MB',
  max_wal_size: '512MB',
  // Nobody replicates from here: less WAL, and no process that would wait for replicas.
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_logical_replication_workers: '0',
  // Three processes fewer; reads of a database of this size come from the operating system's cache.
  io_method: 'sync',
  // Parallel queries need more shared memory than a container's /dev/shm has by default.
  max_parallel_workers_per_gather: '0',
  max_parallel_maintenance_workers: '0',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_checkpoints: 'off',
};
