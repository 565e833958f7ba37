// A program whose tool is a plain function, for every way to read its types.

/** What the program asks its agent. */
export const QUESTION = 'How warm is it in Oslo?'

const TOOLS = `import type { ToolContext } from 'toolwright'

/**
 * Get the current weather for a city.
 * @param city Name of the city, like "Oslo"
 */
export async function getWeather(city: string, units: 'celsius' | 'fahrenheit' = 'celsius', at: Date = new Date(0), context: ToolContext) {
  context.state.set('asked', at.toISOString())
  return { city, temperature: 22, units }
}
`

/** Prints the declaration of the function, as the model gets it. */
const AGENT = `import { LlmAgent, tool } from 'toolwright'
import { offlineModel } from 'toolwright/testing'
import { getWeather } from './tools.ts'

console.log(JSON.stringify(tool(getWeather).declaration()))
export default new LlmAgent({ name: 'desk', model: offlineModel(), tools: [getWeather] })
`

const MAIN = `import { Runner } from 'toolwright'
import agent from './agent.ts'

const runner = new Runner({ appName: 'app', agent })
console.log((await runner.complete({ userId: 'ada', message: '${QUESTION}' })).text)
await runner.close()
`

/** The files of the program. `main.ts` needs a hook, a plugin, or the module that `generated.ts` imports. */
export const FUNCTIONS: Readonly<Record<string, string>> = {
  'tools.ts': TOOLS,
  'agent.ts': AGENT,
  'main.ts': MAIN,
  'generated.ts': "import './tools.infer.ts'\nimport './main.ts'\n",
}

/** Builds the program into `built.js`. */
export const BUILD = `import { build } from 'esbuild'
import infer from 'toolwright/infer/esbuild'

await build({
  entryPoints: ['main.ts'],
  outfile: 'built.js',
  bundle: true,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  logLevel: 'error',
  plugins: [infer()],
})
`

const DECLARATION = {
  name: 'getWeather',
  description: 'Get the current weather for a city.',
  parametersJsonSchema: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'Name of the city, like "Oslo"' },
      units: { type: 'string', enum: ['celsius', 'fahrenheit'], default: 'celsius' },
      at: { type: 'string', format: 'date-time' },
    },
    required: ['city'],
    additionalProperties: false,
  },
  responseJsonSchema: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      temperature: { type: 'number' },
      units: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['city', 'temperature', 'units'],
  },
}

/** What the program prints: the declaration, byte for byte, and the answer of the agent. */
export const DECLARED: string = `${JSON.stringify(DECLARATION)}\nIt is 22 °C in Oslo.`
