// One build of an example per bundler. Each returns the path of the built file, which imports toolwright from node_modules.
import { join } from 'node:path'
import { build as esbuild, transformSync } from 'esbuild'
import { build as rolldown } from 'rolldown'
import { type Plugin, rollup } from 'rollup'
import inferEsbuild from 'toolwright/infer/esbuild'
import inferRolldown from 'toolwright/infer/rolldown'
import inferRollup from 'toolwright/infer/rollup'
import inferTsdown from 'toolwright/infer/tsdown'
import inferVite from 'toolwright/infer/vite'
import { build as tsdown } from 'tsdown'
import { build as vite } from 'vite'
import { rspackCompiler, runCompiler, webpackCompiler } from './compilers.ts'
import type { ExampleProject } from './example-project.ts'

const external = /^toolwright/

/** Builds an example. Returns the path of the built file. */
export type Build = (project: ExampleProject) => Promise<string>

/** A build for each bundler, with source maps. */
export const builds: Record<string, Build> = {
  vite: async ({ folder, outputFolder, agent }) => {
    const lib = { entry: agent, formats: ['es' as const], fileName: () => 'agent.js' }
    const outDir = join(outputFolder, 'vite')
    const rolldownOptions = { external }
    const build = { outDir, emptyOutDir: true, lib, sourcemap: true, minify: false, rolldownOptions }
    await vite({ root: folder, configFile: false, logLevel: 'silent', plugins: [inferVite({ cache: false })], build })
    return join(outDir, 'agent.js')
  },
  rollup: async ({ outputFolder, agent }) => {
    const bundle = await rollup({ input: agent, external, plugins: [stripTypes(), inferRollup({ cache: false })] })
    const file = join(outputFolder, 'rollup/agent.js')
    await bundle.write({ file, sourcemap: true })
    await bundle.close()
    return file
  },
  rolldown: async ({ outputFolder, agent }) => {
    const file = join(outputFolder, 'rolldown/agent.js')
    const output = { file, sourcemap: true }
    await rolldown({ input: agent, external, plugins: [inferRolldown({ cache: false })], output, logLevel: 'silent' })
    return file
  },
  tsdown: async ({ folder, outputFolder, agent }) => {
    const outDir = join(outputFolder, 'tsdown')
    const deps = { neverBundle: [external] }
    const plugins = [inferTsdown({ cache: false })]
    const output = { outDir, deps, sourcemap: true, dts: false, logLevel: 'silent' as const }
    await tsdown({ entry: agent, cwd: folder, config: false, format: 'esm', plugins, ...output })
    return join(outDir, 'agent.mjs')
  },
  esbuild: async ({ outputFolder, agent }) => {
    const outfile = join(outputFolder, 'esbuild/agent.js')
    const options = { bundle: true, format: 'esm', sourcemap: true, logLevel: 'silent' } as const
    const plugins = [inferEsbuild({ cache: false })]
    await esbuild({ entryPoints: [agent], outfile, external: ['toolwright'], plugins, ...options })
    return outfile
  },
  webpack: async (project) => await runCompiler(webpackCompiler(project)),
  rspack: async (project) => await runCompiler(rspackCompiler(project)),
}

/** A plugin that removes types, like the ones that users of rollup install. */
export function stripTypes(order?: 'pre'): Plugin {
  const handler = (code: string, id: string) => transformSync(code, { loader: 'ts', sourcefile: id, sourcemap: true })
  return { name: 'strip-types', transform: order ? { order, handler } : handler }
}
