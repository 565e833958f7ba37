// Bundles an app that uses the packed package, and runs the bundles. The folder of the app has no optional peer, so a
// bundler that tries to resolve a peer fails.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createContext, runInContext } from 'node:vm'
import * as esbuild from 'esbuild'
import { Miniflare } from 'miniflare'
import { build as viteBuild } from 'vite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import webpack from 'webpack'
import { type Installed, installPacked } from './packed/install.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 }) // a busy machine bundles slowly

/** An agent with one tool; the first call of the model has invalid arguments. */
const AGENT = `
import { LlmAgent, Runner, tool } from 'toolwright'
import { fromAiSdk } from 'toolwright/ai-sdk'
import { applyCredential, beginConsent } from 'toolwright/auth'
import { OpenApiToolset } from 'toolwright/openapi'
import { createToolContext, geminiServer, offlineModel, scriptedModel, sessionServiceSuite } from 'toolwright/testing'

export async function ask() {
  const getWeather = tool({
    name: 'get_weather',
    description: 'Weather for a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    run: ({ city }, context) => ({ city, celsius: 22, key: typeof context.idempotencyKey }),
  })
  const call = (args) => ({ calls: [{ name: 'get_weather', args }] })
  const model = scriptedModel([call({ city: 5 }), call({ city: 'Oslo' }), 'It is 22 degrees in Oslo.'])
  const runner = new Runner({ appName: 'app', agent: new LlmAgent({ name: 'agent', model, tools: [getWeather] }) })
  const { events, text, sessionId } = await runner.complete({ userId: 'ada', message: 'Oslo?' })
  // a part of the package that is loaded when it is first used
  const copy = await runner.fork({ userId: 'ada', sessionId, before: events.at(-1).id })
  await runner.close()
  const responses = events.flatMap(({ content }) => content?.parts ?? []).flatMap((part) => part.functionResponse ?? [])
  const alone = await getWeather.run({ city: 'Rome' }, createToolContext())
  const paths = { '/pets': { get: { operationId: 'listPets' } } }
  const spec = { openapi: '3.1.0', info: { title: 'Pets', version: '1' }, paths }
  const pets = new OpenApiToolset({ spec, baseUrl: 'https://pets.example.com', fetch: async () => Response.json(['Minka']) })
  const [listPets] = await pets.listTools(createToolContext())
  const { body: [pet] } = await listPets.run({}, createToolContext())
  const server = await geminiServer([]).then((server) => server.close(), ({ code }) => code)
  return [...responses.map(({ response }) => response.errorCode ?? response.city), text, alone.city, pet,
    typeof offlineModel().generate, typeof sessionServiceSuite, typeof fromAiSdk, typeof applyCredential,
    typeof beginConsent, typeof copy.sessionId, server ?? 'served'].join()
}
`
const ANSWER =
  'INVALID_ARGS,Oslo,It is 22 degrees in Oslo.,Rome,Minka,function,function,function,function,function,string'

const IN_A_BROWSER = `
import { ask } from './agent.js'
globalThis.answer = ask()
`

const IN_NODE = `
import { quickjs } from 'toolwright/code'
import { sqlite } from 'toolwright/sqlite'
import { ask } from './agent.js'

const signal = new AbortController().signal
const tools = { tools: ['double'], callTool: async (_, { value }) => ({ value: 2 * value }) }
quickjs()
  .execute({ code: '(await tools.double({ value: 21 })).value', language: 'js', sessionKey: '', signal, ...tools })
  .then(async ({ outcome, output }) => console.log(await ask(), outcome, output, Object.keys(sqlite(':memory:')).length > 0))
`

const IN_A_WORKER = `
import { ask } from './agent.js'
export default { fetch: async (request) => new Response(await request.text() + ' ' + await ask()) }
`

let app: Installed
beforeAll(() => {
  app = installPacked()
  app.write('agent.js', AGENT)
  app.write('browser.js', IN_A_BROWSER)
  app.write('server.js', IN_NODE)
  app.write('worker.js', IN_A_WORKER)
})
afterAll(() => app.remove())

describe('a bundle for browsers contains no Node module and runs without Node', () => {
  test('with esbuild', async () => {
    const file = await esbuilt('browser.js', { platform: 'browser', format: 'iife', minify: true })
    expect(await runWithoutNode(file)).toBe(`${ANSWER},INVALID_CONFIG`)
  })
  test('with webpack', async () => {
    expect(await runWithoutNode(await webpacked('browser.js', 'web'))).toBe(`${ANSWER},INVALID_CONFIG`)
  })
  test('with vite', async () => {
    expect(await runWithoutNode(await vited('browser.js'))).toBe(`${ANSWER},INVALID_CONFIG`)
  })
})

describe('a bundle for Node with quickjs() is one file that runs in an empty folder', () => {
  test.each(['esm', 'cjs'] as const)('with esbuild as %s', async (format) => {
    const file = await esbuilt('server.js', { platform: 'node', format })
    expect(runAlone(file, format === 'esm' ? 'mjs' : 'cjs')).toBe(`${ANSWER},served OK 42 true`)
  })
  test('with webpack', async () => {
    expect(runAlone(await webpacked('server.js', 'node'), 'cjs')).toBe(`${ANSWER},served OK 42 true`)
  })
})

test('an agent runs in workerd without Node modules and code generation', async () => {
  const file = await esbuilt('worker.js', { platform: 'browser', format: 'esm', conditions: ['workerd'] })
  const worker = new Miniflare({
    modules: [{ type: 'ESModule', path: 'worker.js', contents: readFileSync(file, 'utf8') }],
    compatibilityDate: '2026-07-01',
    host: '127.0.0.1',
    port: 0,
    cf: false, // otherwise Miniflare downloads sample request metadata
  })
  onTestFinished(() => worker.dispose())
  const response = await fetch(await worker.ready, { method: 'POST', body: 'hello' })
  expect(await response.text()).toBe(`hello ${ANSWER},INVALID_CONFIG`)
})

async function esbuilt(entry: string, options: esbuild.BuildOptions): Promise<string> {
  const outfile = join(app.folder, 'out', `esbuild-${options.platform}-${options.format}-${entry}`)
  const entryPoints = [join(app.folder, entry)]
  const { warnings } = await esbuild.build({ entryPoints, outfile, bundle: true, logLevel: 'silent', ...options })
  expect(warnings).toEqual([])
  return outfile
}

async function webpacked(entry: string, target: 'web' | 'node'): Promise<string> {
  const output = { path: join(app.folder, 'out'), filename: `webpack-${entry}` }
  const compiler = webpack({
    mode: 'production',
    context: app.folder,
    entry: `./${entry}`,
    target,
    output,
    optimization: { minimize: false }, // slow, and esbuild minifies above
    performance: { hints: false }, // no advice about large files
  })
  const stats = await new Promise<webpack.Stats | undefined>((resolve, reject) =>
    compiler?.run((error, stats) => (error ? reject(error) : resolve(stats))),
  )
  await new Promise((resolve) => compiler?.close(resolve))
  const { errors, warnings } = stats?.toJson({ all: false, errors: true, warnings: true }) ?? {}
  expect([errors, warnings]).toEqual([[], []])
  return join(output.path, output.filename)
}

async function vited(entry: string): Promise<string> {
  const outDir = join(app.folder, 'out', 'vite')
  const lib = { entry: join(app.folder, entry), formats: ['iife' as const], name: 'app', fileName: () => 'app.js' }
  await viteBuild({ root: app.folder, configFile: false, logLevel: 'silent', build: { outDir, lib } })
  return join(outDir, 'app.js')
}

/** Runs a script with only the globals of browsers and workers. */
async function runWithoutNode(file: string): Promise<string> {
  const text = readFileSync(file, 'utf8')
  expect(text).not.toMatch(/(from|import|require)\s*\(?\s*["'`]node:/)
  const { AbortController, AbortSignal, crypto, DOMException, performance, TextDecoder, TextEncoder, URL } = globalThis
  const timers = { setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask, structuredClone }
  const web = {
    AbortController,
    AbortSignal,
    crypto,
    DOMException,
    performance,
    TextDecoder,
    TextEncoder,
    URL,
    URLSearchParams,
    Headers,
    Request,
    Response,
    ReadableStream,
    FormData,
    Blob,
    console,
  }
  const context = createContext({ ...web, ...timers }, { codeGeneration: { strings: false, wasm: false } })
  runInContext(text, context, { filename: file })
  return await (context as { answer: Promise<string> }).answer
}

/** Runs a copy of a bundle as the only file of its folder. */
function runAlone(file: string, extension: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-alone-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(file, join(folder, `app.${extension}`))
  const flags = ['--no-warnings', `app.${extension}`]
  return execFileSync(process.execPath, flags, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim()
}
