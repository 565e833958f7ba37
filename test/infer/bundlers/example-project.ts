// A project whose agent file uses functions of a second file as tools, with the types of a third.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The file of the example that only has types. */
export const TYPES = `/** Where to look. */
export interface Place {
  /** Name of the city, like "Oslo" */
  city: string
  /** The unit of the answer. */
  units?: 'celsius' | 'fahrenheit'
}
`

/** The file of the example with a function that the agent file imports. */
export const TOOLS = `import type { Place } from './types.ts'

/** Get the current weather for a city. */
export async function getWeather(place: Place): Promise<{ city: string; degrees: number }> {
  return { city: place.city, degrees: place.units === 'fahrenheit' ? 72 : 22 }
}
`

const AGENT = `import { LlmAgent, tool } from 'toolwright'
import { getWeather } from './tools.ts'

/** Cancel an order. */
function cancel(order: string, reason: string = 'unknown'): string {
  return order + reason
}

export const agent = new LlmAgent({ name: 'desk', tools: [getWeather, cancel] })
export const failing = tool((city: string) => { throw new Error('No weather for ' + city) }, { name: 'fail', description: 'Fails' })
export const declarations = JSON.stringify([tool(getWeather), tool(cancel), failing].map((one) => one.declaration()))
`

const TEST = `import { writeFileSync } from 'node:fs'
import { createToolContext } from 'toolwright/testing'
import { declarations, failing } from './agent.ts'

test('the agent has declarations', async () => {
  let stack: unknown
  try {
    await failing.run({ city: 'Atlantis' }, createToolContext())
  } catch (error) {
    stack = (error as Error).stack
  }
  writeFileSync(import.meta.dirname + '-output/vitest.json', JSON.stringify({ declarations, stack }))
})
`

/** Where the body of the tool \`fail\` throws: the line and column in agent.ts. */
export const THROWS_AT: string = positionOf(AGENT, 'new Error')

/** An example that is written into a folder of its own. */
export interface ExampleProject {
  /** The folder of the sources. */
  readonly folder: string
  /** The folder for what is built. It is beside the sources, because a new file among them makes some bundlers build again. */
  readonly outputFolder: string
  /** The file with the agent. */
  readonly agent: string
}

/** Writes the example into a new folder. */
export function writeExample(parent: string, name: string, types: string = TYPES): ExampleProject {
  const folder = join(parent, name)
  const outputFolder = join(parent, `${name}-output`)
  for (const one of [folder, outputFolder]) mkdirSync(one)
  const files = { 'types.ts': types, 'tools.ts': TOOLS, 'agent.ts': AGENT, 'agent.test.ts': TEST }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  return { folder, outputFolder, agent: join(folder, 'agent.ts') }
}

/** Makes a folder a package that can import this repository as `toolwright`. */
export function linkToolwright(folder: string): void {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(join(import.meta.dirname, '../../..'), join(folder, 'node_modules/toolwright'), 'junction')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2023',
    allowImportingTsExtensions: true,
    noEmit: true,
    customConditions: ['toolwright:source'],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
}

function positionOf(text: string, part: string): string {
  const before = text.slice(0, text.indexOf(part)).split('\n')
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`
}
