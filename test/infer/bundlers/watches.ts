// One watch mode per bundler: builds an example, changes the file that only has types, and waits for the next build.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { context, type PluginBuild } from 'esbuild'
import { watch as rolldownWatch } from 'rolldown'
import { watch as rollupWatch } from 'rollup'
import inferEsbuild from 'toolwright/infer/esbuild'
import inferRolldown from 'toolwright/infer/rolldown'
import inferRollup from 'toolwright/infer/rollup'
import inferVite from 'toolwright/infer/vite'
import inferVitest from 'toolwright/infer/vitest'
import { createServer } from 'vite'
import { createVitest, type Reporter, type TestModule } from 'vitest/node'
import { stripTypes } from './builds.ts'
import { type Compiler, outputOf, rspackCompiler, webpackCompiler } from './compilers.ts'
import type { Watch } from './watch-changes.ts'

/** A watch mode for each bundler. */
export const watches: Record<string, Watch> = {
  vite: async ({ folder }, onBuild) => {
    const plugins = [inferVite({ cache: false })]
    const server = await createServer({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      server: { middlewareMode: true, ws: false },
      ssr: { external: ['toolwright', 'toolwright/infer'], resolve: { conditions, externalConditions: conditions } },
      plugins,
    })
    const load = async () => (await server.ssrLoadModule('/agent.ts')).declarations
    onBuild(load())
    server.watcher.on('change', () => onBuild(load()))
    return () => server.close()
  },
  vitest: async ({ folder, outputFolder }, onBuild) => {
    const declarationsOf = async (modules: readonly TestModule[]): Promise<string> => {
      const [mistake] = modules.flatMap((module) => module.errors())
      if (mistake) throw new Error(mistake.message)
      return (await vitestResult(outputFolder)).declarations
    }
    const onTestRunEnd: Reporter['onTestRunEnd'] = (modules) => onBuild(declarationsOf(modules))
    const deps = { external: [/\/src\//] }
    const vitest = await createVitest(
      { root: folder, config: false, watch: true, globals: true, reporters: [{ onTestRunEnd }] },
      {
        plugins: [inferVitest({ cache: false })],
        resolve: { conditions },
        ssr: { resolve: { conditions } },
        test: { server: { deps }, execArgv: ['--conditions=toolwright:source'] },
      },
    )
    await vitest.start()
    return () => vitest.close()
  },
  rollup: async ({ outputFolder, agent }, onBuild) => {
    const output = { file: join(outputFolder, 'rollup/agent.mjs') }
    const plugins = [stripTypes(), inferRollup({ cache: false })]
    const watcher = rollupWatch({ input: agent, external, plugins, output, watch: { buildDelay: 0 } })
    watcher.on('event', (event) => {
      if (event.code === 'BUNDLE_END') onBuild(load(output.file))
      if (event.code === 'ERROR') onBuild(Promise.reject(event.error))
      if ('result' in event) event.result?.close()
    })
    return () => watcher.close()
  },
  rolldown: async ({ outputFolder, agent }, onBuild) => {
    const output = { file: join(outputFolder, 'rolldown/agent.mjs') }
    const plugins = [inferRolldown({ cache: false })]
    const watcher = rolldownWatch({ input: agent, external, plugins, output, logLevel: 'silent' })
    watcher.on('event', (event) => {
      if (event.code === 'BUNDLE_END') onBuild(load(output.file))
      if (event.code === 'ERROR') onBuild(Promise.reject(event.error))
      if ('result' in event) event.result.close()
    })
    return () => watcher.close()
  },
  esbuild: async ({ outputFolder, agent }, onBuild) => {
    const outfile = join(outputFolder, 'esbuild/agent.mjs')
    const report = {
      name: 'report',
      setup: (build: PluginBuild) => {
        build.onEnd(({ errors }) => onBuild(errors.length ? Promise.reject(new Error(errors[0]?.text)) : load(outfile)))
      },
    }
    const plugins = [inferEsbuild({ cache: false }), report]
    const options = { bundle: true, format: 'esm', logLevel: 'silent' } as const
    const building = await context({ entryPoints: [agent], outfile, external: ['toolwright'], plugins, ...options })
    await building.watch()
    return () => building.dispose()
  },
  webpack: async (project, onBuild) => watchCompiler(webpackCompiler(project), onBuild),
  rspack: async (project, onBuild) => watchCompiler(rspackCompiler(project), onBuild),
}

const external = /^toolwright/
const conditions = ['toolwright:source']

/** What the test of the example wrote when vitest ran it. */
export async function vitestResult(outputFolder: string): Promise<{ declarations: string; stack: string }> {
  return JSON.parse(await readFile(join(outputFolder, 'vitest.json'), 'utf8'))
}

let loaded = 0

async function load(file: string): Promise<string> {
  loaded += 1
  return (await import(`${pathToFileURL(file)}?${loaded}`)).declarations
}

function watchCompiler(compiler: Compiler, onBuild: Parameters<Watch>[1]): () => unknown {
  compiler.watch({ aggregateTimeout: 0 }, (...compiled) => onBuild(outputOf(compiler, ...compiled).then(load)))
  return () => new Promise<void>((done) => compiler.close(done))
}
