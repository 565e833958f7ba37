import { escapeLine } from '../../../core/base/escape.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { userStoreOptions } from '../command/store-options.ts'
import { loadEnvFile } from '../load/env-file.ts'
import { withProgress } from '../screen/progress.ts'
import { closeApps, openApps } from '../serve/open-apps.ts'
import { type Terminal, UsageError } from '../terminal.ts'
import { terminalLogger } from '../terminal-logger.ts'

const options = {
  session: { type: 'string', value: '<id>', description: 'The session' },
  ...userStoreOptions,
} as const satisfies CommandOptions

const USAGE = 'Usage: toolwright fleet retry <file> --user <id> --session <id>'

/** `toolwright fleet retry`. */
export const retryCommand: Command = defineCommand({
  name: 'fleet retry',
  summary: 'Have workers continue a session that was set aside',
  usage: '<file>',
  description: [
    'Forgets the processes that have died with a session that was set aside, so that workers continue it. Fix the cause first: a session that kills another five processes is set aside again. Runs nothing by itself.',
  ],
  options,
  examples: [['toolwright fleet retry agent.ts --user ada --session s1', 'toolwright fleet agent.ts lists both ids']],
  exitCodes: { 1: 'failure, such as a session that is not set aside' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, terminal: Terminal): Promise<number> {
  const { user: userId = 'user', session: sessionId, app, db } = values
  const [file, ...others] = positionals
  if (!file || others.length > 0) throw new UsageError(`Pass one agent file. ${USAGE}`)
  if (!sessionId) throw new UsageError(`--session is missing. ${USAGE}`)
  loadEnvFile(terminal.folder, terminal.env)
  const logger = terminalLogger(terminal)
  const apps = await withProgress(terminal, `Loading ${file}`, () =>
    openApps({ paths: [file], app, db, folder: terminal.folder, logger, withoutModels: true }),
  )
  try {
    const [opened, other] = apps
    if (!opened || other) throw new UsageError(`"${file}" has several apps. Pass the file of one of them.`)
    await opened.runner.internals.retrySetAside({ userId, sessionId })
    terminal.output.write(`A worker continues session ${escapeLine(sessionId)} of ${escapeLine(userId)}.\n`)
    return 0
  } finally {
    await closeApps(apps)
  }
}
