/**
 * Sessions, artifacts and encrypted credentials in one SQLite file, without a dependency.
 *
 * @module
 */
export { type SqliteOptions, type SqliteServices, sqlite } from './sqlite.ts'
