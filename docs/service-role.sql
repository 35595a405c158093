-- Privileges of the role of DATABASE_URL if MIGRATION_DATABASE_URL names another role, which owns the tables.
-- Replace incidents_service by the name of the role. Run this file as the owner after each migration:
--   npm run migrate && psql "$MIGRATION_DATABASE_URL" -v ON_ERROR_STOP=1 --single-transaction -f docs/service-role.sql

grant usage on schema public to incidents_service;
grant select, insert, update, delete on all tables in schema public to incidents_service;
grant usage, select on all sequences in schema public to incidents_service;

-- Tables of later releases, until this file runs again.
alter default privileges in schema public grant select, insert, update, delete on tables to incidents_service;
alter default privileges in schema public grant usage, select on sequences to incidents_service;

-- Rows that the service only adds.
revoke update, delete on audit_log, audit_seals, playbook_versions from incidents_service;
revoke delete on audit_chain, audit_retired_keys from incidents_service;
revoke insert, update, delete on schema_migrations from incidents_service;
