// The compilers of webpack and rspack, which have the same interface.
import { join } from 'node:path'
import { rspack } from '@rspack/core'
import inferRspack from 'toolwright/infer/rspack'
import inferWebpack from 'toolwright/infer/webpack'
import webpack from 'webpack'
import type { ExampleProject } from './example-project.ts'

/** What builds and watch modes use of a compiler. */
export interface Compiler {
  readonly outputPath: string
  run(done: OnCompiled): void
  watch(options: object, done: OnCompiled): unknown
  close(done: () => void): void
}

type OnCompiled = (error: Error | null, stats?: Stats) => void

interface Stats {
  toJson(options: object): { errors?: { message: string }[] }
}

/** webpack with a loader that removes types. */
export function webpackCompiler(project: ExampleProject): Compiler {
  const loader = join(import.meta.dirname, 'strip-types-loader.ts')
  const compiler = webpack({
    ...optionsOf(project, 'webpack'),
    experiments: { outputModule: true },
    module: { rules: [{ test: /\.ts$/, loader }] },
    plugins: [inferWebpack({ cache: false })],
  })
  if (!compiler) throw new Error('webpack returned no compiler')
  return compiler
}

/** rspack with its own loader for TypeScript. */
export function rspackCompiler(project: ExampleProject): Compiler {
  const options = { jsc: { parser: { syntax: 'typescript' as const }, target: 'es2022' as const } }
  return rspack({
    ...optionsOf(project, 'rspack'),
    module: { rules: [{ test: /\.ts$/, loader: 'builtin:swc-loader', options }] },
    plugins: [inferRspack({ cache: false })],
  })
}

/** Builds once. Returns the path of the built file. */
export async function runCompiler(compiler: Compiler): Promise<string> {
  try {
    return await new Promise((resolve, reject) => {
      compiler.run((...compiled) => outputOf(compiler, ...compiled).then(resolve, reject))
    })
  } finally {
    await new Promise<void>((done) => compiler.close(done))
  }
}

/** The path of the built file. Throws if the build has errors. */
export async function outputOf(compiler: Compiler, error: Error | null, stats?: Stats): Promise<string> {
  if (error) throw error
  const { errors = [] } = stats?.toJson({ all: false, errors: true }) ?? {}
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'))
  return join(compiler.outputPath, 'agent.mjs')
}

function optionsOf({ outputFolder, agent }: ExampleProject, name: string) {
  return {
    mode: 'production' as const,
    target: 'node22' as const,
    entry: agent,
    devtool: 'source-map' as const,
    externals: [/^toolwright/],
    externalsType: 'module' as const,
    optimization: { minimize: false },
    output: {
      path: join(outputFolder, name),
      filename: 'agent.mjs',
      devtoolModuleFilenameTemplate: '[absolute-resource-path]',
      module: true,
      chunkFormat: 'module' as const,
      library: { type: 'module' as const },
    },
  }
}
