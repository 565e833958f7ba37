import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiler, createProgram, FIXTURES, TOPICS } from './read-table.ts'

const REPOSITORY = join(import.meta.dirname, '../../..')

/** A check of a file. Returns the errors: an empty text if the compiler accepts the file. */
export type Check = (file: string) => Promise<string>

/** Checks a file of calls. */
export async function checkCalls(calls: readonly string[], check: Check): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-signatures-'))
  const file = join(folder, 'calls.mts')
  try {
    const imports = [...TOPICS, 'shared'].map((topic) => `import * as ${topic} from '${join(FIXTURES, topic)}.ts'`)
    const context = `declare const context: import('${REPOSITORY}/src/engine/context/context.ts').ToolContext`
    writeFileSync(file, [...imports, context, ...calls.map((call) => `${call};`)].join('\n'))
    return await check(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs the `tsc` of the repository, which is TypeScript 7. */
export function checkWithTypeScript7(file: string): Promise<string> {
  const settings = {
    extends: join(FIXTURES, 'tsconfig.json'),
    files: [file],
    include: [],
  }
  const project = join(file, '../tsconfig.json')
  writeFileSync(project, JSON.stringify(settings))
  const tsc = join(REPOSITORY, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '-p', project, '--pretty', 'false'], (error, stdout, stderr) => {
      resolve(error ? `${stdout}${stderr}` || error.message : '')
    })
  })
}

/** Checks the file and the fixtures with TypeScript 5.9, in this process and without the sources that they import. */
export async function checkWithTypeScript5(file: string): Promise<string> {
  const ts = compiler()
  const program = createProgram(ts, [file])
  const sources = program.getSourceFiles().filter(({ fileName }) => fileName === file || fileName.startsWith(FIXTURES))
  const found = sources.flatMap((source) => [
    ...program.getSyntacticDiagnostics(source),
    ...program.getSemanticDiagnostics(source),
  ])
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')).join('\n')
}
