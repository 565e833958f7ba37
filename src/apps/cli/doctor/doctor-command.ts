import { escapeJson, escapeText } from '../../../core/base/escape.ts'
import { messageOf } from '../../../core/error/error.ts'
import type { Command, CommandLine, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { parsePort } from '../command/parse-command-line.ts'
import { storeOptions } from '../command/store-options.ts'
import { loadEnvFile } from '../load/env-file.ts'
import type { Style } from '../screen/paint.ts'
import { withProgress } from '../screen/progress.ts'
import { Screen } from '../screen/screen.ts'
import { takeStandardOutput } from '../screen/take-standard-output.ts'
import { findAgentFiles } from '../serve/find-agent-files.ts'
import type { Terminal } from '../terminal.ts'
import { checkApp } from './check-app.ts'
import { checkDatabase } from './check-database.ts'
import {
  checkCompiler,
  checkNode,
  checkPackage,
  checkPort,
  checkServerPeers,
  checkToken,
} from './check-installation.ts'
import { type Finding, findingsOf } from './finding.ts'

const options = {
  ...storeOptions,
  port: { type: 'string', value: '<number>', description: 'The port to check (default: 8000)' },
  json: { type: 'boolean', description: 'Write the findings as one JSON object' },
} as const satisfies CommandOptions

/** `toolwright doctor`. */
export const doctorCommand: Command = defineCommand({
  name: 'doctor',
  summary: 'Check Node, keys, the database and toolsets, and say what to fix',
  usage: '[file|folder ...]',
  description: [
    'Checks what the commands need and prints one line per finding, with what to do. Agent files are loaded: their models need packages and keys, their MCP servers are started or connected to, their OpenAPI documents are read, and all toolsets must list their tools. No model is called, no value of a variable is shown, and nothing is written.',
  ],
  options,
  examples: [
    ['toolwright doctor', 'Node, the package and the port'],
    ['toolwright doctor agent.ts --db app.db', 'also an agent and its database'],
    ['toolwright doctor agent.ts --json', 'for a program'],
  ],
  exitCodes: { 0: 'no problem; there may be warnings', 1: 'at least one problem' },
  run,
})

async function run({ values, positionals }: CommandLine<typeof options>, ofProcess: Terminal): Promise<number> {
  const { db, app, json = false, port = '8000' } = values
  const terminal = json ? { ...ofProcess, output: takeStandardOutput(ofProcess) } : ofProcess
  const parsedPort = parsePort(port)
  const findings: Finding[] = []
  const report = (found: readonly Finding[]): void => {
    findings.push(...found)
    if (!json) for (const finding of found) printFinding(finding, terminal)
  }
  report([
    checkNode(),
    checkServerPeers(),
    ...checkCompiler(terminal.folder, { hasFiles: positionals.length > 0 }),
    ...checkEnvFile(terminal),
    ...checkToken(terminal.env.TOOLWRIGHT_TOKEN),
  ])
  report([await checkPort(parsedPort, { isDefault: values.port === undefined })])
  const files = await findAgentFiles(positionals)
  if (files.length === 0) report([checkPackage(terminal.folder), ...(db === undefined ? [] : checkDatabase(db))])
  for (const { file, app: found } of files) {
    const check = { file, app: app ?? found, db }
    report(await withProgress(terminal, `Checking ${file}`, () => checkApp(check, terminal)))
  }
  const problems = findings.filter(({ status }) => status === 'problem').length
  const warnings = findings.filter(({ status }) => status === 'warning').length
  if (json) terminal.output.write(`${escapeJson({ findings, problems, warnings })}\n`)
  else terminal.output.write(`\nProblems: ${problems}, warnings: ${warnings}\n`)
  return problems > 0 ? 1 : 0
}

/** Loads `.env`, as all commands do. */
function checkEnvFile({ folder, env }: Terminal): Finding[] {
  try {
    loadEnvFile(folder, env)
    return []
  } catch (error) {
    return [findingsOf('.env').problem(messageOf(error))]
  }
}

const STYLES: { readonly [Status in Finding['status']]: Style } = {
  ok: ['green'],
  warning: ['yellow'],
  problem: ['red'],
}

function printFinding({ check, status, message, fix }: Finding, terminal: Terminal): void {
  const { paint } = new Screen(terminal)
  const indent = ' '.repeat(19)
  const text = escapeText(message).replaceAll('\n', `\n${indent}`)
  const advice = fix === undefined ? '' : `${indent}${escapeText(fix)}\n`
  terminal.output.write(`${paint(STYLES[status], status.padEnd(9))}${check.padEnd(10)}${text}\n${advice}`)
}
