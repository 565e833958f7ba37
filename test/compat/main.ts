// Runs the packed package on other runtimes, bundlers and TypeScript versions. Takes minutes and needs the npm registry, so
// it is not part of npm test. Prints a table and exits with 1 when a row fails.
//   npm run compat [-- <part of a row's name> ...]
import { execFileSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import build from '../build.ts'
import { readPage, sourceOf, theirBlocks } from '../docs/pages.ts'
import { NEXT_APP } from './next-app.ts'
import { BUILD, DECLARED, FUNCTIONS, QUESTION } from './plain-functions.ts'
import {
  AGENT,
  AGENT_SAYS,
  CODE,
  GEMINI_SERVER,
  GEMINI_TYPES,
  QUICKJS,
  ROOT,
  SQLITE,
  TYPES,
  WORKER,
} from './programs.ts'
import { canIsolate, type Ended, install, run } from './sandbox.ts'

/** The tested versions. docs/reference/compatibility.md names the date. */
const VERSIONS = {
  node: ['22.18.0', '24.21.0', '26.10.0'],
  bun: '1.4.4',
  deno: '2.9.6',
  next: '16.4.6',
  react: '19.3.1',
  wrangler: '4.158.0',
  typescript: ['5.5.4', '5.6.3', '5.7.3', '5.8.3', '5.9.3', '6.0.3', '7.0.2'],
  typesNode: '24.19.2',
  genai: ['2.32.0', '3.1.0'],
  compiler: '5.9.3',
  esbuild: '0.28.2',
}

/** The frameworks of the migration guides, with the packages that the programs of `docs/migrating/<page>.md` need. */
const KITS = [
  { name: 'AI SDK', page: 'from-ai-sdk', packages: ['ai@7.0.169', '@ai-sdk/openai@4.0.114'] },
  { name: 'Mastra', page: 'from-mastra', packages: ['@mastra/core@1.71.0', '@mastra/libsql@1.23.1'] },
  { name: 'Google ADK', page: 'from-adk', packages: ['@google/adk@2.0.0'] },
  { name: 'OpenAI Agents', page: 'from-openai-agents', packages: ['@openai/agents@0.20.0'] },
]

interface Row {
  readonly name: string
  /** Resolves to undefined on success, otherwise to the problem. */
  check(): Promise<string | undefined>
}

const only = process.argv.slice(2)
const work = mkdtempSync(join(tmpdir(), 'toolwright-compat-'))
const tarball = pack()
process.exitCode = await main()

async function main(): Promise<number> {
  try {
    if (!canIsolate) console.error('This machine has no user namespaces, so the commands can reach the network.')
    const rows = [...runtimes(), ...clients(), ...frameworks(), ...types(), ...migrations()]
    const wanted = rows.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)))
    const problems: string[] = []
    for (const { name, check } of wanted) {
      const problem = await check().catch((error: unknown) => String(error))
      console.log(`| ${name} | ${problem === undefined ? 'ok' : 'FAILED'} |`)
      if (problem !== undefined) problems.push(`${name}\n${problem.slice(0, 2000)}\n`)
    }
    console.log(`\n${wanted.length - problems.length} ok, ${problems.length} failed\n${problems.join('\n')}`)
    return problems.length > 0 || wanted.length === 0 ? 1 : 0
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function pack(): string {
  build()
  const npm = ['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', work]
  execFileSync('npm', npm, { stdio: ['ignore', 'ignore', 'inherit'] })
  const [file = ''] = globSync('*.tgz', { cwd: work })
  return join(work, file)
}

/** A folder with the package, other packages and files. It is created on first use. */
function app(
  name: string,
  packages: readonly string[],
  files: Readonly<Record<string, string>>,
): () => Promise<string> {
  let made: Promise<string> | undefined
  const make = async (): Promise<string> => {
    const folder = join(work, name)
    for (const [file, text] of Object.entries({ 'package.json': '{"type":"module","private":true}', ...files })) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
    await install(folder, [tarball, ...packages])
    return folder
  }
  return () => {
    made ??= make()
    return made
  }
}

function runtimes(): Row[] {
  const files = { 'agent.js': AGENT, 'quickjs.js': QUICKJS, 'root.js': ROOT, 'code.js': CODE, 'sqlite.js': SQLITE }
  const platform = `${process.platform}-${process.arch}`
  const { genai, compiler, esbuild } = VERSIONS
  const peers = [`@google/genai@${genai.at(-1)}`, `typescript-5@npm:typescript@${compiler}`, `esbuild@${esbuild}`]
  const programs = [
    ['root.js', 'toolwright, toolwright/ai-sdk and toolwright/testing', AGENT_SAYS],
    ['code.js', 'toolwright/code', '42'],
    ['sqlite.js', 'toolwright/sqlite', '2 4'],
    ['gemini.js', 'toolwright/gemini and its test server', 'Cold.'],
  ] as const
  const bin = 'node_modules/toolwright/dist/cli/index.js'
  const rowsOf = (runtime: string, folder: () => Promise<string>, command: readonly string[]): Row[] => [
    ...programs.map(([file, what, says]) => ({
      name: `${runtime} | ${what}`,
      check: async () => expectOutput(await run([...command, file], await folder()), says),
    })),
    ...prepared(runtime, folder, command),
  ]
  /** Plain functions that were read before the program starts. Node prepares them for all runtimes. */
  const prepared = (runtime: string, folder: () => Promise<string>, command: readonly string[]): Row[] => {
    const node = command[0]?.includes('/node-') ? command[0] : process.execPath
    return [
      { what: 'built with toolwright/infer/esbuild', prepare: [node, 'build.js'], file: 'built.js' },
      { what: 'with a module of toolwright infer', prepare: [node, bin, 'infer', 'tools.ts'], file: 'generated.ts' },
    ].map(({ what, prepare, file }) => ({
      name: `${runtime} | plain functions, ${what}`,
      check: async () => {
        const { code, out, errors } = await run(prepare, await folder())
        if (code !== 0) return out + errors
        return expectOutput(await run([...command, file], await folder()), DECLARED)
      },
    }))
  }
  const all = { ...files, ...FUNCTIONS, 'build.js': BUILD, 'gemini.js': GEMINI_SERVER }
  return [
    ...VERSIONS.node.flatMap((version) => {
      const folder = app(`node-${version}`, [`node-${platform}@${version}`, ...peers], all)
      const node = `node_modules/node-${platform}/bin/node`
      const others: Row[] = [
        {
          name: `Node ${version} | the command toolwright`,
          check: async () => {
            const { code, out, errors } = await run([node, bin, '--version'], await folder())
            return code === 0 && /^\d+\.\d+\.\d+$/.test(out.trim()) ? undefined : out + errors
          },
        },
        ...[
          {
            what: 'node --import toolwright/infer/register',
            args: ['--import', 'toolwright/infer/register', 'main.ts'],
          },
          { what: 'toolwright run', args: [bin, 'run', 'agent.ts', QUESTION] },
        ].map(({ what, args }) => ({
          name: `Node ${version} | plain functions, ${what}`,
          check: async () => {
            const { out, ...ended } = await run([node, '--no-warnings', ...args], await folder())
            // the command shows the call in between
            const [declaration = '', ...rest] = out.trim().split('\n')
            return expectOutput({ ...ended, out: `${declaration}\n${rest.at(-1)}` }, DECLARED)
          },
        })),
      ]
      return [...rowsOf(`Node ${version}`, folder, [node, '--no-warnings']), ...others]
    }),
    ...rowsOf(`Bun ${VERSIONS.bun}`, app('bun', [`@oven/bun-${platform}@${VERSIONS.bun}`, ...peers], all), [
      `node_modules/@oven/bun-${platform}/bin/bun`,
      'run',
    ]),
    ...rowsOf(
      `Deno ${VERSIONS.deno}`,
      app('deno', [`@deno/${platform}${process.platform === 'linux' ? '-glibc' : ''}@${VERSIONS.deno}`, ...peers], all),
      [
        `node_modules/@deno/${platform}${process.platform === 'linux' ? '-glibc' : ''}/deno`,
        'run',
        '-A',
        '--no-remote',
        '--node-modules-dir=manual',
      ],
    ),
  ]
}

/** The versions of the client of Gemini: the package installs beside each of them, its program runs and its types compile. */
function clients(): Row[] {
  return VERSIONS.genai.flatMap((version) => {
    const tools = [`typescript@${VERSIONS.typescript.at(-1)}`, `@types/node@${VERSIONS.typesNode}`]
    const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true }
    const folder = app(`genai-${version}`, [`@google/genai@${version}`, ...tools], {
      'gemini.js': GEMINI_SERVER,
      'program.ts': GEMINI_TYPES,
      'tsconfig.json': JSON.stringify({
        compilerOptions: { ...compilerOptions, types: ['node'] },
        files: ['program.ts'],
      }),
    })
    const tsc = 'node_modules/typescript/bin/tsc'
    return [
      {
        name: `@google/genai ${version} | toolwright/gemini and its test server`,
        check: async () => expectOutput(await run([process.execPath, 'gemini.js'], await folder()), 'Cold.'),
      },
      {
        name: `@google/genai ${version} | the types of toolwright/gemini`,
        check: async () => expectOutput(await run([process.execPath, tsc, '-p', '.'], await folder()), ''),
      },
    ]
  })
}

function frameworks(): Row[] {
  const { next, react, wrangler } = VERSIONS
  const nextApp = app('next', [`next@${next}`, `react@${react}`, `react-dom@${react}`], NEXT_APP)
  const workerApp = app('wrangler', [`wrangler@${wrangler}`], { 'agent.js': AGENT, 'worker.js': WORKER })
  return [
    {
      name: `Next.js ${next}, Turbopack | a route of Node, a route of the edge runtime, a page`,
      check: async () => {
        const folder = await nextApp()
        const built = await run([process.execPath, 'node_modules/next/dist/bin/next', 'build'], folder)
        if (built.code !== 0) return built.out + built.errors
        return expectOutput(await run([process.execPath, 'serve.mjs'], folder), `${AGENT_SAYS}\n${AGENT_SAYS} 42`)
      },
    },
    {
      name: `wrangler ${wrangler}, deploy --dry-run | toolwright, toolwright/ai-sdk and toolwright/testing, without nodejs_compat`,
      check: async () => {
        const args = [
          'deploy',
          '--dry-run',
          '--name=app',
          '--compatibility-date=2026-07-01',
          '--outdir=out',
          'worker.js',
        ]
        const { code, out, errors } = await run(
          [process.execPath, 'node_modules/wrangler/bin/wrangler.js', ...args],
          await workerApp(),
        )
        return code === 0 && !/node:/.test(out + errors) ? undefined : out + errors
      },
    },
  ]
}

function types(): Row[] {
  const withNode = { types: ['node'], lib: ['es2023'] }
  const withoutNode = { types: [] }
  return VERSIONS.typescript.flatMap((version) => {
    const packages = [`typescript@${version}`, `@types/node@${VERSIONS.typesNode}`]
    const folder = app(`typescript-${version}`, packages, { 'program.ts': TYPES })
    const resolutions = [
      { module: 'nodenext', moduleResolution: 'nodenext' },
      { module: 'esnext', moduleResolution: 'bundler' },
    ]
    return resolutions.flatMap((resolution) =>
      [withNode, withoutNode].map((environment): Row => {
        const compilerOptions = {
          target: 'es2022',
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          skipLibCheck: false,
        }
        const config = { compilerOptions: { ...compilerOptions, ...resolution, ...environment }, files: ['program.ts'] }
        const name = `${resolution.moduleResolution}, ${environment === withNode ? 'with' : 'without'} @types/node`
        return {
          name: `TypeScript ${version} | ${name}`,
          check: async () => {
            const at = await folder()
            writeFileSync(join(at, 'tsconfig.json'), JSON.stringify(config))
            return expectOutput(await run([process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.'], at), '')
          },
        }
      }),
    )
  })
}

/** The programs of other frameworks in the migration guides, compiled with our strict settings. */
function migrations(): Row[] {
  // The paths and conditions of the repository are for its own source.
  const strict = { extends: resolve('tsconfig.json'), compilerOptions: { customConditions: [], paths: {} } }
  const tools = ['zod@4.6.7', `typescript@${VERSIONS.typescript.at(-1)}`, `@types/node@${VERSIONS.typesNode}`]
  return KITS.map(({ name, page, packages }): Row => {
    const file = `docs/migrating/${page}.md`
    const blocks = theirBlocks(readPage(file, readFileSync(file, 'utf8')))
    const folder = app(page, [...packages, ...tools], {
      'program.ts': sourceOf({ blocks }),
      'tsconfig.json': JSON.stringify({ ...strict, include: ['program.ts'] }),
    })
    return {
      name: `the ${name} program of docs/migrating compiles | ${packages.join(', ')}`,
      check: async () => {
        if (blocks.length === 0) return `${file} has no block "ts theirs".`
        return expectOutput(
          await run([process.execPath, 'node_modules/typescript/bin/tsc', '-p', '.'], await folder()),
          '',
        )
      },
    }
  })
}

function expectOutput({ code, out, errors }: Ended, expected: string): string | undefined {
  return code === 0 && out.trim() === expected ? undefined : `exit ${code}\n${out}\n${errors}`
}
