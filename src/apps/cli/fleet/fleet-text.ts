import { escapeLine } from '../../../core/base/escape.ts'
import type { FleetView, FleetWorker } from '../../../engine/runner/work/fleet-view.ts'
import { quoteForShell } from '../screen/quote-for-shell.ts'
import { textWidth } from '../screen/text-width.ts'

/** The most workers that are listed one by one. Lost and busy ones come first. */
const MAX_ROWS = 50

/** What operators see of an app, as text. Nothing in it can move the cursor. `file`: for the command lines it names. */
export function fleetText(view: FleetView, file: string): string {
  const { workers, sessions, recoveries } = view
  const lines = [
    escapeLine(view.appName),
    `  workers    ${workersText(view)}`,
    ...workerTable(workers).map((line) => `             ${line}`),
    ...(sessions ? [`  sessions   ${sessionsText(sessions)}`] : []),
    `  pending    ${pendingText(view)}`,
    `  recovery   ${recoveries.count === 0 ? 'none' : recoveryText(recoveries)}`,
    ...view.setAside.flatMap(({ userId, sessionId, reason }, at) => [
      `  ${(at === 0 ? 'set aside' : '').padEnd(11)}${escapeLine(`${userId} / ${sessionId}: ${reason}`)}`,
      `             ${retryLine(file, userId, sessionId)}`,
    ]),
  ]
  return `${lines.join('\n')}\n`
}

/** A command line that can be copied, unless an id has characters that a terminal must not get. */
function retryLine(file: string, userId: string, sessionId: string): string {
  const words = [file, `--user=${userId}`, `--session=${sessionId}`]
  return escapeLine(`toolwright fleet retry ${words.map(quoteForShell).join(' ')}`)
}

function workersText({ workers, listsWorkers }: FleetView): string {
  if (!listsWorkers) return 'unknown: the app has no `workerService`. sqlite() and postgres() bring one.'
  if (workers.length === 0) return 'none. Start one: toolwright worker <file>'
  const alive = workers.filter(({ isLost }) => !isLost)
  const lost = workers.length - alive.length
  const versions = new Set(alive.map(({ agents, version }) => `${version} ${agents}`)).size
  return [
    String(alive.length),
    ...(lost > 0 ? [`${lost} lost`] : []),
    ...(versions > 1 ? [`${versions} versions side by side`] : []),
  ].join(', ')
}

function workerTable(workers: readonly FleetWorker[]): string[] {
  if (workers.length === 0) return []
  const shown = workers
    .toSorted((one, other) => Number(other.isLost) - Number(one.isLost) || other.running - one.running)
    .slice(0, MAX_ROWS)
  const head = ['worker', 'agents', 'version', 'engine', 'running', 'continued', 'crashes', 'started', 'seen']
  const rows = shown.map((worker) => [
    escapeLine(worker.label ?? worker.id.slice(0, 8)),
    escapeLine(worker.agents),
    escapeLine(worker.version),
    worker.engine,
    String(worker.running),
    String(worker.continued),
    String(worker.crashes),
    new Date(worker.startedAt).toISOString().slice(0, 16).replace('T', ' '),
    worker.isLost ? `lost for ${duration(worker.unseenMs)}` : `${duration(worker.unseenMs)} ago`,
  ])
  const rest =
    workers.length > shown.length ? [`and ${workers.length - shown.length} more; --json has all of them`] : []
  return [...alignColumns([head, ...rows]), ...rest]
}

function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => textWidth(row[at] ?? ''))))
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - textWidth(cell))))
      .join('  ')
      .trimEnd(),
  )
}

function sessionsText(counts: NonNullable<FleetView['sessions']>): string {
  const { running, interrupted, posted, waiting, setAside, idle } = counts
  const named = { running, interrupted, posted, waiting, 'set aside': setAside, idle }
  return Object.entries(named)
    .map(([state, count]) => `${count.toLocaleString('en')} ${state}`)
    .join(', ')
}

function pendingText({ pending: { count, oldest } }: FleetView): string {
  const total = count === undefined ? '' : `${count.toLocaleString('en')} ${count === 1 ? 'request' : 'requests'}`
  if (!oldest) return total || 'none'
  const { userId, sessionId, tool, kind, ageMs } = oldest
  const age = ageMs === undefined ? '' : `, ${duration(ageMs)} old`
  return `${total ? `${total}; ` : ''}oldest: ${escapeLine(`${kind} for ${tool}, ${userId} / ${sessionId}`)}${age}`
}

function recoveryText({ count, p50Ms = 0, p99Ms = 0 }: FleetView['recoveries']): string {
  const percentiles = `half within ${duration(p50Ms)}, 99 % within ${duration(p99Ms)}`
  return `${count.toLocaleString('en')} ${count === 1 ? 'session' : 'sessions'} of dead workers, ${percentiles}`
}

/** A duration in its largest unit. */
export function duration(ms: number): string {
  const units = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ] as const
  const [unit, size] = units.find(([, length]) => ms >= length) ?? ['ms', 1]
  return `${Number((ms / size).toFixed(size > 1 && ms < 10 * size ? 1 : 0))} ${unit}`
}
