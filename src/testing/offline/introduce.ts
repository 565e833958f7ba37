import type { Declared } from './declared.ts'
import { type Parameter, spokenName } from './parameters.ts'
import { listed } from './values.ts'
import { prepositions } from './words.ts'

const MAX_NAMED = 8
const MAX_DESCRIPTION = 80

/** What it is and what it can call: what it says when it understands nothing. */
export function introduction(tools: readonly Declared[], agents: readonly Declared[]): string {
  const self = "I am Toolwright's offline model: no language model, only rules that match words with tools."
  const calls = tools.length ? `I can call ${described(tools)}.` : 'I have no tools here.'
  return [self, calls, ...(agents.length ? [`I can hand over to ${described(agents)}.`] : [])].join(' ')
}

function described(all: readonly Declared[]): string {
  const named = all
    .slice(0, MAX_NAMED)
    .map(({ name, description }) => (description ? `${name} (${short(description)})` : name))
  const more = all.length - named.length
  return listed(more > 0 ? [...named, `${more} more`] : named)
}

const thanks =
  /^(?:(?:ok|okay|great|perfect|cool|many)[ ,!.]{1,3})?(?:thanks?|thank you|thx)(?: (?:a lot|so much|very much|again))?[ !.]{0,5}$/i
const farewell = /^(?:(?:ok|okay|good)[ ,!.]{0,3})?(?:bye|bye bye|see you|see you later)[ !.]{0,5}$/i

/** The reply to a message that only thanks or takes leave; empty for any other. */
export function courtesy(message: string): string {
  const said = message.trim()
  if (thanks.test(said)) return 'You are welcome.'
  return farewell.test(said) ? 'Goodbye.' : ''
}

/** Asks for what a call lacks, in one sentence. */
export function question(tool: Declared, missing: readonly Parameter[]): string {
  return `Please tell me ${listed(missing.slice(0, 5).map(asked))} so that I can call ${tool.name}.`
}

/** "the city", "the account (checking or savings)", and for names like `from` what is said about it. */
function asked(parameter: Parameter): string {
  const name = spokenName(parameter)
  const { description } = parameter.schema
  const about = prepositions.has(name) && typeof description === 'string' ? ` (${short(description)})` : ''
  const choices = parameter.choices.slice(0, 6).map(String)
  const or = choices.length > 1 ? ` (${choices.slice(0, -1).join(', ')} or ${choices.at(-1)})` : ''
  return `${prepositions.has(name) ? `"${name}"` : `the ${name}`}${or || about}`
}

function short(description: string): string {
  const [first = ''] = description.trim().split(/(?<=[.!?])\s|\n/)
  const bare = first.replace(/[.!?]$/, '')
  return bare.length > MAX_DESCRIPTION ? `${bare.slice(0, MAX_DESCRIPTION).trimEnd()}…` : bare
}
