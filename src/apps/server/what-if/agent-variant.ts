import type { JsonObject } from '../../../core/base/json.ts'
import { Fields, invalid } from '../wire/fields.ts'

/** What is different about an agent in a what-if copy. Stored in the state of the copy; what is missing is as in the agent file. */
export interface AgentVariant {
  /** The name of the agent. */
  readonly agent: string
  /** The name of another model. */
  readonly model?: string
  /** Another instruction. */
  readonly instruction?: string
  /** Numbers of `generateContentConfig`, beside those of the agent. */
  readonly config?: { readonly [name: string]: number }
  /** The names of the tools that the model is offered, of those that the agent has. */
  readonly tools?: readonly string[]
}

/** Numbers only: other members, such as addresses, could send the key of a provider elsewhere. */
const CONFIG: readonly string[] = [
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
]
const MEMBERS: readonly string[] = ['agent', 'model', 'instruction', 'config', 'tools']
const MAX_AGENTS = 20
const MAX_TOOLS = 2_000

/** Reads the variants that a client sends, or that a copy stores. Throws INVALID_REQUEST. */
export function readVariants(value: unknown, where: string): readonly AgentVariant[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_AGENTS)
    throw invalid(`${where} must be a list of 1 to ${MAX_AGENTS} agents with what is different about them.`)
  const variants = value.map((one, at) => readVariant(one, `${where}[${at}]`))
  const twice = variants.find(({ agent }, at) => variants.findIndex((other) => other.agent === agent) < at)
  if (twice) throw invalid(`${where} has agent "${twice.agent}" twice. Send one entry for each agent.`)
  return variants
}

function readVariant(value: unknown, where: string): AgentVariant {
  const fields = new Fields(value, where)
  const unknown = Object.keys(fields.whole()).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) throw invalid(`${fields.path(unknown)} is not known. Send ${MEMBERS.join(', ')}.`)
  const agent = fields.text('agent')
  const model = fields.optionalText('model')
  const instruction = fields.optionalText('instruction')
  const config = readConfig(fields)
  const tools = readTools(fields)
  if (model === undefined && instruction === undefined && !config && !tools)
    throw invalid(`${where} changes nothing. Send model, instruction, config or tools.`)
  return {
    agent,
    ...(model !== undefined && { model }),
    ...(instruction !== undefined && { instruction }),
    ...(config && { config }),
    ...(tools && { tools }),
  }
}

function readConfig(fields: Fields): AgentVariant['config'] {
  const config = fields.optionalObject('config')
  if (!config) return undefined
  for (const [name, value] of Object.entries(config)) {
    if (!CONFIG.includes(name)) throw invalid(`${fields.path('config')} has "${name}". Send ${CONFIG.join(', ')}.`)
    if (typeof value !== 'number') throw invalid(`${fields.path('config')}.${name} must be a number.`)
  }
  return config as JsonObject & { readonly [name: string]: number } // each member was checked
}

function readTools(fields: Fields): readonly string[] | undefined {
  const tools = fields.optionalList('tools')
  if (!tools) return undefined
  if (tools.length <= MAX_TOOLS && tools.every((name) => typeof name === 'string')) return tools
  throw invalid(`${fields.path('tools')} must be a list of at most ${MAX_TOOLS} names of tools.`)
}
