// Projects of several kinds in temporary folders, and the declarations that their functions get.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { InferredFunction } from 'toolwright/infer'
import { onTestFinished } from 'vitest'
import { createInferrer } from '../../../src/apps/infer/create-inferrer.ts'
import type { Inferrer } from '../../../src/apps/infer/inferrer.ts'

/** A project on disk. It is deleted when the test ends. */
export interface TestProject {
  readonly folder: string
  /** The absolute path of a file. */
  path(name: string): string
  /** Writes a file. */
  write(name: string, content: string | object): void
  /** Creates a symbolic link in the project. */
  link(name: string, target: string): void
  /** Deletes a file or folder. */
  remove(name: string): void
  /** The functions that a file uses as tools. */
  functions(name: string, inferrer?: Inferrer): InferredFunction[]
}

/** One for all projects, so that the library of the compiler is parsed once. */
export const shared: Inferrer = createInferrer({ cache: false })

/** The parts of the package that the projects import. A whole one would be parsed again for each of them. */
const PACKAGE = `
export interface ReadonlyContext { readonly agentName: string }
export interface ToolContext extends ReadonlyContext { readonly functionCallId: string }
export interface ToolFunction { (...args: never[]): unknown }
export interface Tool { readonly name: string }
export interface ToolOptions { name: string; description: string; run(args: unknown, context: ToolContext): unknown }
export declare function tool<F extends ToolFunction>(from: ToolOptions | F, options?: object): Tool
export declare class LlmAgent { constructor(options: { name: string; tools?: readonly (Tool | ToolFunction)[] }) }
`

/** Creates a project with a small package \`toolwright\`. Objects are written as JSON. */
export function createProject(files: { readonly [name: string]: string | object }): TestProject {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-project-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = (name: string): string => join(folder, name)
  const write = (name: string, content: string | object): void => {
    mkdirSync(dirname(path(name)), { recursive: true })
    writeFileSync(path(name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const link = (name: string, target: string): void => {
    mkdirSync(dirname(path(name)), { recursive: true })
    symlinkSync(resolve(target), path(name), 'junction')
  }
  write('node_modules/toolwright/package.json', {
    name: 'toolwright',
    type: 'module',
    exports: { types: './dist/index.d.ts' },
  })
  write('node_modules/toolwright/dist/index.d.ts', PACKAGE)
  for (const [name, content] of Object.entries(files)) write(name, content)
  const functions = (name: string, inferrer: Inferrer = shared): InferredFunction[] =>
    functionsIn(inferrer.transform(path(name), readFileSync(path(name), 'utf8'))?.code ?? '')
  const remove = (name: string): void => rmSync(path(name), { recursive: true, force: true })
  return { folder, path, write, link, remove, functions }
}

/** The descriptions that the transform has added to a file. */
export function functionsIn(code: string): InferredFunction[] {
  return [...code.matchAll(/^function __toolwright\d+.*? return __toolwright\(value, (.*)\) \}$/gm)].map(
    ([, shape = '']) => JSON.parse(shape.replace(/, '\w+:\d+'$/, '')), // without the place
  )
}

/** Runs a module in the folder of a project and returns what it prints. */
export function runNode({ folder }: TestProject, script: string): string {
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', script]
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return stdout + stderr
}
