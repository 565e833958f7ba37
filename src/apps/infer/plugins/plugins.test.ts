import { expect, test } from 'vitest'
import esbuild from './esbuild.ts'
import type { InferPluginOptions } from './plugin-options.ts'
import rolldown from './rolldown.ts'
import rollup from './rollup.ts'
import rspack from './rspack.ts'
import tsdown from './tsdown.ts'
import vite from './vite.ts'
import vitest from './vitest.ts'
import webpack from './webpack.ts'

const plugins = { esbuild, rolldown, rollup, rspack, tsdown, vite, vitest, webpack }

test.each(Object.entries(plugins))('the plugin for %s refuses an option that it does not know', (name, plugin) => {
  // as JavaScript passes it
  const options: InferPluginOptions = JSON.parse('{ "includes": "src" }')
  expect(() => plugin(options)).toThrow(
    `The plugin of toolwright/infer/${name}: unknown option "includes". Did you mean "include"?`,
  )
})

test('a plugin refuses an `include` that is not a function', () => {
  const options: InferPluginOptions = JSON.parse('{ "include": ["src"] }')
  expect(() => vite(options)).toThrow('include must be a function')
})

test('vitest caches modules without tools only', () => {
  const generators: ((module: { id: string; sourceCode: string }) => unknown)[] = []
  vitest().configureVitest({ defineCacheKeyGenerator: (generator) => generators.push(generator) })
  const isCached = (id: string, sourceCode: string): boolean => generators[0]?.({ id, sourceCode }) !== false
  expect(isCached('/app/agent.ts', 'new LlmAgent({ tools: [getWeather] })')).toBe(false)
  expect(isCached('/app/dates.ts', 'export const now = Date.now')).toBe(true)
  expect(isCached('/app/node_modules/pkg/index.js', 'export const tools = []')).toBe(true)
})

test('the plugin runs in a vitest without a cache of modules', () => {
  expect(() => vite().configureVitest({})).not.toThrow()
})
