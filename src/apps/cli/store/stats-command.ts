import { escapeText } from '../../../core/base/escape.ts'
import type { SessionFigure } from '../../../services/sql/store-stats.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { readCount } from '../serve/serve-arguments.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { readStorePlace } from './open-store.ts'
import { readStats, type StoreStats } from './read-stats.ts'

const options = {
  json: { type: 'boolean', description: 'Print JSON' },
  schema: { type: 'string', value: '<name>', description: 'Schema of a store in Postgres (default: toolwright)' },
  top: { type: 'string', value: '<number>', description: 'How many sessions to name (default: 5)' },
} as const satisfies CommandOptions

/** `toolwright store stats`. */
export const statsCommand: Command = defineCommand({
  name: 'store stats',
  summary: 'Show what a store holds',
  usage: '<store>',
  description: [
    'Shows how many sessions a store has, how large it is, and which sessions are the oldest and the largest. The store is a SQLite file or a URL of Postgres. Reads it and changes nothing, also while other processes use it.',
  ],
  options,
  examples: [
    ['toolwright store stats app.db', 'sessions, bytes, the oldest and the largest sessions'],
    ['toolwright store stats "$DATABASE_URL" --schema shop', 'of a store in Postgres'],
    ['toolwright store stats app.db --json --top 100', 'for a program'],
  ],
  exitCodes: { 1: 'failure, such as a file of another program' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const [store, ...others] = positionals
  if (!store || others.length > 0)
    throw new UsageError('Pass one SQLite file or URL of Postgres. Usage: toolwright store stats <store>')
  const place = readStorePlace(store, { schema: values.schema, option: 'schema' })
  const stats = await readStats(place, readCount('top', values.top) ?? 5)
  terminal.output.write(values.json ? `${JSON.stringify(stats)}\n` : textOf(stats))
  return 0
}

function textOf(stats: StoreStats): string {
  const { apps, log, artifacts } = stats
  const users = apps.reduce((sum, app) => sum + app.users, 0)
  const lines = [
    stats.freeBytes === null
      ? `tables     ${bytes(stats.fileBytes)}`
      : `file       ${bytes(stats.fileBytes)}, ${bytes(stats.freeBytes)} of it free`,
    `sessions   ${count(stats.sessions, 'session')} of ${count(users, 'user')} in ${count(apps.length, 'app')}`,
    ...apps.map(({ app, sessions }) => `           ${escapeText(app)}: ${count(sessions, 'session')}`),
    `log        ${count(log.entries, 'entry', 'entries')}, ${bytes(log.bytes)}`,
    `artifacts  ${count(artifacts.versions, 'version')}, ${bytes(artifacts.bytes)}`,
    `pending    ${count(stats.pending, 'request')}`,
    ...section('oldest', stats.oldest),
    ...section('largest', stats.largest),
  ]
  return `${lines.join('\n')}\n`
}

function section(title: string, sessions: readonly SessionFigure[]): string[] {
  return sessions.map((figure, at) => {
    const { app, user, session, changedAt, entries } = figure
    const name = [app, user, session].map(escapeText).join(' / ')
    const day = changedAt.slice(0, 16).replace('T', ' ')
    return `${(at === 0 ? title : '').padEnd(11)}${day}  ${bytes(figure.bytes)}, ${count(entries, 'entry', 'entries')}  ${name}`
  })
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`
}

function bytes(number: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let value = number
  let unit = 0
  for (; value >= 1000 && unit < units.length - 1; unit++) value /= 1000
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}
