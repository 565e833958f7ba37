// The plugins have types of their own. Each bundler accepts them without a cast.
import type { Configuration as RspackConfiguration } from '@rspack/core'
import type { BuildOptions } from 'esbuild'
import type { InputOptions as RolldownOptions } from 'rolldown'
import type { RollupOptions } from 'rollup'
import type { UserConfig as TsdownConfig } from 'tsdown'
import type { UserConfig as ViteConfig } from 'vite'
import { expectTypeOf, test } from 'vitest'
import type { ViteUserConfig as VitestConfig } from 'vitest/config'
import type { Configuration as WebpackConfiguration } from 'webpack'
import esbuild from './esbuild.ts'
import rolldown from './rolldown.ts'
import rollup from './rollup.ts'
import rspack from './rspack.ts'
import tsdown from './tsdown.ts'
import vite from './vite.ts'
import vitest from './vitest.ts'
import webpack from './webpack.ts'

type Plugins<Config extends { plugins?: unknown }> = NonNullable<Config['plugins']>

test('each bundler accepts its plugin in `plugins`', () => {
  expectTypeOf([vite()]).toExtend<Plugins<ViteConfig>>()
  expectTypeOf([vitest()]).toExtend<Plugins<VitestConfig>>()
  expectTypeOf([rollup()]).toExtend<Plugins<RollupOptions>>()
  expectTypeOf([rolldown()]).toExtend<Plugins<RolldownOptions>>()
  expectTypeOf([tsdown()]).toExtend<Plugins<TsdownConfig>>()
  expectTypeOf([esbuild()]).toExtend<Plugins<BuildOptions>>()
  expectTypeOf([webpack()]).toExtend<Plugins<WebpackConfiguration>>()
  expectTypeOf([rspack()]).toExtend<Plugins<RspackConfiguration>>()
})

test('a plugin takes `include` and `cache` and refuses other options', () => {
  vite({ include: (file) => file.endsWith('.agent.ts'), cache: false })
  // @ts-expect-error unknown option
  vite({ exclude: () => true })
  // @ts-expect-error not a function
  webpack({ include: 'src' })
})
