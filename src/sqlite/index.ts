export { type SqliteOptions, type SqliteServices, sqlite } from './sqlite.ts'
