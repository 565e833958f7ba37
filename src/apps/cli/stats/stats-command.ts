import { escapeLine } from '../../../core/base/escape.ts'
import { type CallStats, LogStats, type StatsGroup } from '../../../core/event/views/log-stats.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { readLogs } from './read-logs.ts'

const options = {
  since: { type: 'string', value: '<time>', description: 'Only what has happened since: 30m, 24h, 7d, or a date' },
  by: { type: 'string', value: '<group>', description: 'Group by tool, agent, model or user (default: tool)' },
  json: { type: 'boolean', description: 'Print JSON' },
} as const satisfies CommandOptions

/** `toolwright stats`. */
export const statsCommand: Command = defineCommand({
  name: 'stats',
  summary: 'Show how tools are used, from the logs of a store',
  usage: '<file>',
  description: [
    'Reads the logs of a SQLite file and shows, for each tool: calls, failures by code, times, the size of results, about how many tokens the results put into later requests, and approvals: asked, denied, how long calls waited, and the share that was given in under two seconds.',
  ],
  options,
  notes: [
    'Times are without the time that a call waited. The model of a call is the one that made it; in logs of earlier versions it is "unknown".',
  ],
  examples: [
    ['toolwright stats .toolwright/agent.db', 'all tools'],
    ['toolwright stats app.db --since 7d --by agent --json', 'for a program'],
  ],
  exitCodes: { 1: 'failure, such as a file of another program' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const [file, ...others] = positionals
  if (!file || others.length > 0) throw new UsageError('Pass one SQLite file. Usage: toolwright stats <file>')
  const sinceMs = values.since === undefined ? 0 : readSince(values.since, Date.now())
  const stats = new LogStats(readGroup(values.by), sinceMs / 1000)
  readLogs(file, sinceMs, ({ entries, userId }) => stats.addLog(entries, userId))
  const figures = stats.figures()
  terminal.output.write(values.json ? `${JSON.stringify(figures)}\n` : tableOf(figures))
  return 0
}

function readGroup(by = 'tool'): StatsGroup {
  if (by === 'tool' || by === 'agent' || by === 'model' || by === 'user') return by
  throw new UsageError(`--by must be tool, agent, model or user, got "${by}".`)
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time in milliseconds since the epoch, from an age or a date. */
function readSince(given: string, now: number): number {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(given) ?? []
  const time = count === '' ? Date.parse(given) : now - Number(count) * (UNITS[unit] ?? 0)
  if (Number.isFinite(time)) return time
  throw new UsageError(`--since must be an age such as 24h or 7d, or a date such as 2030-01-31, got "${given}".`)
}

const COLUMNS = ['', 'calls', 'failed', 'p50', 'p95', 'results', 'carried', 'asked', 'denied', 'waited', 'fast']

function tableOf(figures: readonly CallStats[]): string {
  if (figures.length === 0) return 'No calls.\n'
  const rows = [COLUMNS, ...figures.map(rowOf)]
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  )
  const failures = figures.flatMap(({ name, failures: codes }) => {
    const listed = Object.entries(codes).map(([code, count]) => `${count} ${code}`)
    return listed.length ? [`${escapeLine(name)}: ${escapeLine(listed.join(', '))}`] : []
  })
  return `${[...lines, ...(failures.length ? ['', ...failures] : [])].join('\n')}\n`
}

function rowOf(stats: CallStats): string[] {
  const { name, calls, failures, p50Ms, p95Ms, resultBytes, carriedTokens, approvalsAsked, approvalsDenied } = stats
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  const ms = (time: number | undefined): string => (time === undefined ? '-' : `${Math.round(time)} ms`)
  const fast = stats.fastApprovals === undefined ? '-' : `${Math.round(stats.fastApprovals * 100)} %`
  const sizes = [`${resultBytes.toLocaleString('en')} B`, `${carriedTokens.toLocaleString('en')} tokens`]
  const approvals = [`${approvalsAsked}`, `${approvalsDenied}`, `${Math.round(stats.waitedSeconds)} s`, fast]
  return [escapeLine(name), calls.toLocaleString('en'), `${failed}`, ms(p50Ms), ms(p95Ms), ...sizes, ...approvals]
}
