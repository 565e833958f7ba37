import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { storeOptions } from '../command/store-options.ts'
import { listenForStop } from '../input/listen-for-stop.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { withProgress } from '../screen/progress.ts'
import { closeApps, type OpenedApp, openApps } from '../serve/open-apps.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { fleetText } from './fleet-text.ts'
import { retryCommand } from './retry-command.ts'

const options = {
  json: { type: 'boolean', description: 'Print JSON, one line for each look' },
  watch: { type: 'boolean', description: 'Look every two seconds, until Ctrl+C' },
  ...storeOptions,
} as const satisfies CommandOptions

/** How often `--watch` looks, in milliseconds. */
const WATCH_MS = 2_000
/** Moves the cursor to the top left, and erases what is below. */
const CLEAR = '\x1b[H\x1b[J'

/** `toolwright fleet`. */
export const fleetCommand: Command = defineCommand({
  name: 'fleet',
  summary: 'Show workers, sessions by state, and what waits',
  usage: '<file|folder ...>',
  description: [
    'Shows the workers of the apps that files export, how many sessions run, are interrupted, wait for an answer or are set aside, the oldest pending request, and how long sessions were without a worker after one had died. Reads the store of the apps and runs nothing; no key of a model is needed.',
    'A worker reports every ten seconds. One that has not reported for 30 seconds is shown as lost, and is forgotten after an hour.',
  ],
  options,
  parts: [retryCommand],
  examples: [
    ['toolwright fleet agent.ts', 'one look'],
    ['toolwright fleet agent.ts --watch', 'while a deploy is under way'],
    ['toolwright fleet agent.ts --json', 'for a program'],
  ],
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const { db, app, json = false, watch = false } = values
  if (positionals.length === 0)
    throw new UsageError('Pass an agent file or a folder. Usage: toolwright fleet <file|folder ...>')
  loadEnvFile(terminal.folder, terminal.env)
  const logger = terminalLogger(terminal)
  const apps = await withProgress(terminal, `Loading ${positionals.join(', ')}`, () =>
    openApps({ paths: positionals, app, db, folder: terminal.folder, logger, withoutModels: true }),
  )
  const stop = watch ? listenForStop(terminal) : undefined
  try {
    for (;;) {
      const text = await look(apps, json)
      terminal.output.write(watch && !json && terminal.output.isTTY ? `${CLEAR}${text}` : text)
      if (!stop || (await hasStopped(stop.requested))) return 0
    }
  } finally {
    stop?.close()
    await closeApps(apps)
  }
}

async function look(apps: readonly OpenedApp[], json: boolean): Promise<string> {
  const views = await Promise.all(apps.map(({ runner }) => runner.internals.viewFleet()))
  if (json) return `${JSON.stringify({ at: new Date().toISOString(), apps: views })}\n`
  return views.map((view, at) => fleetText(view, apps[at]?.file ?? '')).join('\n')
}

/** Waits for the next look. True if the command is to end. */
async function hasStopped(requested: Promise<void>): Promise<boolean> {
  const { promise: passed, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, WATCH_MS)
  const isStopped = await Promise.race([requested.then(() => true), passed.then(() => false)])
  clearTimeout(timer)
  return isStopped
}
