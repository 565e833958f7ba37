/**
 * Sessions and artifacts in one SQLite file, without a dependency.
 *
 * @module
 */
export { type SqliteOptions, type SqliteServices, sqlite } from './sqlite.ts'
