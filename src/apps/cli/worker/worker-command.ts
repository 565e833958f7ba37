import { escapeText } from '../../../core/base/escape.ts'
import type { WorkOptions } from '../../../engine/runner/runner-options.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { storeOptions } from '../command/store-options.ts'
import { listenForStop } from '../input/listen-for-stop.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { withProgress } from '../screen/progress.ts'
import { closeApps, type OpenedApp, openApps } from '../serve/open-apps.ts'
import { readCount } from '../serve/serve-arguments.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'
import { readRestateArguments, restateWorkerOptions } from './restate-arguments.ts'
import { runOnRestate } from './run-on-restate.ts'

const options = {
  ...storeOptions,
  concurrency: {
    type: 'string',
    value: '<number>',
    description: 'Runs of one app at the same time (default: 10); with --restate, of each connection of Restate',
  },
  label: {
    type: 'string',
    value: '<text>',
    description: 'What toolwright fleet calls this worker, such as the name of its pod (default: nothing)',
  },
  ...restateWorkerOptions,
  verbose: { type: 'boolean', description: 'Show the stacks of errors in the log' },
} as const satisfies CommandOptions

/** `toolwright worker`. */
export const workerCommand: Command = defineCommand({
  name: 'worker',
  summary: 'Continue answered and interrupted runs, and start those of schedules',
  usage: '<file|folder ...>',
  description: [
    'Works without a caller on the sessions of the agents that files export: continues runs whose requests were answered or have expired, runs of processes that died, and starts the runs of schedules that are due. Start as many workers as you like, beside servers: no session and no tick of a schedule runs twice.',
    'A file is one app. In a folder, agent.ts is the app; without one, each <app>/agent.ts is an app. SIGTERM and Ctrl+C let running turns finish for 10 seconds; another worker continues longer ones. A second signal stops at once.',
    'With --restate, Restate schedules the sessions, and calls another worker when one dies. It reaches all workers of a version under one address (--url), behind which a load balancer spreads its connections. The workers of another version need another address. All servers and workers have the same secret in TOOLWRIGHT_FLEET_SECRET.',
  ],
  options,
  examples: [
    ['toolwright worker agent.ts', 'the sessions of toolwright serve agent.ts'],
    ['toolwright worker agent.ts --db app.db --concurrency 50', 'another database, and more runs'],
    ['toolwright worker agent.ts --restate http://127.0.0.1:8080', 'Restate on this machine'],
  ],
  exitCodes: { 0: 'stopped by a signal, after running turns ended', 130: 'stopped by a second signal' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const { db, app, label, verbose = false } = values
  if (positionals.length === 0)
    throw new UsageError('Pass an agent file or a folder. Usage: toolwright worker <file|folder ...>')
  const concurrency = readCount('concurrency', values.concurrency)
  loadEnvFile(terminal.folder, terminal.env)
  const restate = readRestateArguments(values, terminal.env)
  const logger = terminalLogger(terminal, { showsStacks: verbose })
  const apps = await withProgress(terminal, `Loading ${positionals.join(', ')}`, () =>
    openApps({ paths: positionals, app, db, folder: terminal.folder, logger }),
  )
  const stop = listenForStop(terminal)
  try {
    const names = apps.map(describeApp).join(', ')
    if (restate) {
      terminal.output.write(`Working on ${names}.\n`)
      await runOnRestate(restate, { apps, concurrency, label, logger }, stop.requested, terminal)
      return 0
    }
    terminal.output.write(`Working on ${names}. Press Ctrl+C to stop.\n`)
    await workUntil(stop.requested, apps, { concurrency, label, terminal })
    return 0
  } finally {
    await closeApps(apps)
    stop.close()
  }
}

/** Works on all apps until the stop is requested, then until the runs under way have ended. */
async function workUntil(
  requested: Promise<void>,
  apps: readonly OpenedApp[],
  { terminal, ...options }: Pick<WorkOptions, 'concurrency' | 'label'> & { readonly terminal: Terminal },
): Promise<void> {
  const stop = new AbortController()
  const work = Promise.all(apps.map(({ runner }) => runner.work({ signal: stop.signal, ...options })))
  try {
    await Promise.race([requested, work])
  } finally {
    stop.abort()
  }
  await withProgress(terminal, 'Waiting for running turns. Press Ctrl+C to stop now', () => work)
}

function describeApp({ name, storage }: OpenedApp): string {
  return escapeText(`${name} (${storage})`)
}
