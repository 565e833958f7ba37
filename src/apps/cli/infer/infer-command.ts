import { readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { INSTALL_COMPILER } from '../../infer/compiler/find-compiler.ts'
import { inferModules, type WrittenModule } from '../../infer/module/infer-module.ts'
import { isGenerated } from '../../infer/module/module-text.ts'
import { describeMistakes } from '../../infer/types/describe-mistakes.ts'
import type { Command, CommandOptions } from '../command/command.ts'
import { defineCommand } from '../command/define-command.ts'
import { type Terminal, UsageError } from '../terminal.ts'

const options = {
  check: { type: 'boolean', description: 'Write nothing, and fail if a module is missing or out of date' },
} as const satisfies CommandOptions

/** `toolwright infer`. */
export const inferCommand: Command = defineCommand({
  name: 'infer',
  summary: 'Write the schemas of plain functions to a module',
  usage: '<file>...',
  description: [
    'Reads the types and doc comments of every exported function and static method of a file, and writes a module beside it: tools.infer.ts for tools.ts. A program that imports the module can use the functions as tools, without a build step: import "./tools.infer.ts".',
    'Write the tag @internal in the doc comment of a function that is no tool.',
  ],
  options,
  notes: [`Needs TypeScript 5 or 6: ${INSTALL_COMPILER}`],
  examples: [
    ['toolwright infer src/tools.ts', 'writes src/tools.infer.ts'],
    ['toolwright infer src/*.ts --check', 'for CI: fails if a module is out of date'],
  ],
  exitCodes: { 1: 'a function cannot be a tool, or with --check a module is out of date' },
  run: async ({ values, positionals }, terminal) => infer(positionals, values.check === true, terminal),
})

function infer(files: readonly string[], isCheck: boolean, terminal: Terminal): number {
  const sources = files.filter((file) => !/\.infer\.[cm]?[tj]s$/.test(file))
  if (sources.length === 0) throw new UsageError('Name the files to read, for example `toolwright infer src/tools.ts`.')
  const { modules, mistakes } = inferModules(sources, terminal.folder)
  if (mistakes.length > 0) {
    terminal.errors.write(
      `toolwright: ${describeMistakes(mistakes, terminal.folder)}\nWrite the tag @internal in the doc comment of a function that is no tool.\n`,
    )
    return 1
  }
  if (modules.every(({ count }) => count === 0)) {
    terminal.errors.write(
      'toolwright: No file exports a function. Write `export` before the functions that are tools.\n',
    )
    return 1
  }
  const foreign = modules.filter(isForeign).map(({ path }) => relative(terminal.folder, path))
  if (foreign.length > 0) {
    for (const path of foreign)
      terminal.errors.write(
        `toolwright: ${path} exists and was not written by this command, so it is not replaced. Rename or delete it, and run the command again.\n`,
      )
    return 1
  }
  const results = modules.map((module, at) => (isCheck ? check : write)(module, sources[at] as string, terminal))
  return results.includes(false) ? 1 : 0
}

/** Whether a module would replace a file that the command did not write. */
function isForeign(module: WrittenModule): boolean {
  const existing = readText(module.path)
  return module.count > 0 && existing !== undefined && !isGenerated(existing) && !module.isSameAs(existing)
}

/** Writes a module, unless it says the same already. Returns true. */
function write(module: WrittenModule, _file: string, { folder, output }: Terminal): boolean {
  if (module.count === 0) return true
  const path = relative(folder, module.path)
  const existing = readText(module.path)
  if (existing !== undefined && module.isSameAs(existing)) output.write(`${path} is up to date.\n`)
  else {
    writeFileSync(module.path, module.text)
    output.write(`Wrote ${path}: ${module.count} ${module.count === 1 ? 'function' : 'functions'}.\n`)
  }
  return true
}

/** Returns whether a module is up to date. A file without functions needs none, so one that was generated for it is out of date. */
function check(module: WrittenModule, file: string, { folder, output, errors }: Terminal): boolean {
  const path = relative(folder, module.path)
  const existing = readText(module.path)
  if (module.count === 0 && !(existing !== undefined && isGenerated(existing))) return true
  if (existing !== undefined && module.isSameAs(existing)) {
    output.write(`${path} is up to date.\n`)
    return true
  }
  const problem = existing === undefined ? 'does not exist' : 'is out of date'
  const command = module.count === 0 ? `rm ${path}` : `npx toolwright infer ${file}`
  errors.write(`toolwright: ${path} ${problem}. Run: ${command}\n`)
  return false
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
