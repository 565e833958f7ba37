// What it says without a tool: greetings, what it can do, and what it still needs to know.
import { labelOf, listed } from './answer.ts'
import type { Declared, Parameter } from './parameters.ts'
import { isVerb, prepositions, stem } from './words.ts'

const MAX_NAMED = 8
const SELF = "I am Toolwright's offline model: rules instead of a language model, so that this works without a key."

/** Greetings and thanks, whole messages only; undefined for anything else. */
export function smallTalk(message: string, can: string): string | undefined {
  const words =
    message
      .slice(0, 100)
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}']+/gu) ?? []
  const said = words.join(' ').replace(/^(?:(?:oh|ok|okay|well|so|and) )+|(?: (?:please|then|there|all|now))+$/g, '')
  if (/^(?:hello|hi|hey|(?:good )?(?:morning|day|afternoon|evening)|greetings)(?: .{0,20})?$/.test(said))
    return `Hello! ${can}`
  if (/^(?:(?:cool|great|nice|perfect|good|fine) )?(?:thanks|thank you|thx|cheers|many thanks)\b.{0,40}$/.test(said))
    return "You're welcome!"
  if (/^(?:bye|goodbye|good night|see you|farewell|quit|exit|bye bye)\b.{0,20}$/.test(said)) return 'Goodbye!'
  if (/^(?:great|cool|nice|perfect|good|fine|ok|okay|wow|awesome|great job|well done|yes|no|sure)$/.test(said))
    return 'All right. What else can I do?'
  if (/^how are you\b.{0,20}$|^how do you do$/.test(said)) return `I am fine, thank you. ${can}`
  if (/^(?:who|what) are you$|^what is this$|^are you (?:real|human|an? (?:ai|bot|llm))$|^what's your name$/.test(said))
    return `${SELF} ${can}`
  const isHelp =
    /^(?:help|help me|menu|commands)$|^what (?:can|do) (?:you|i) (?:do|ask|say)(?: for me| here)?$|^how does this work$/
  return isHelp.test(said) ? `${can} Ask in plain words.` : undefined
}

export const notUnderstood = (can: string): string => `Sorry, I did not understand that. ${SELF} ${can}`

/** What its tools do, and whom it can hand over to. */
export function abilities(tools: readonly Declared[], agents: readonly Declared[]): string {
  const handing = agents.map(
    ({ name, description }) => `hand over to ${name}${description ? ` (${short(description)})` : ''}`,
  )
  const all = [...tools.map(abilityOf), ...handing]
  const more = all.length - MAX_NAMED
  const named = more > 0 ? [...all.slice(0, MAX_NAMED), `do ${more} more things`] : all
  if (all.length === 0) return 'I have no tools here.'
  return `I can ${named.length > 1 ? `${named.slice(0, -1).join(', ')}, or ${named.at(-1)}` : named[0]}.`
}

/** A description that begins with a verb says it; else the name does. */
function abilityOf({ name, description }: Declared): string {
  const [first = ''] = description.split(' ')
  const text = short(description)
  if (isVerb(stem(first)) || stem(first) === stem(name)) return text
  return `ask ${labelOf(name)}${text ? ` (${text})` : ''}`
}

function short(description: string): string {
  const [first = ''] = description.trim().split(/(?<=[.!?])\s|\n/)
  const bare = first.replace(/[.!?]$/, '').slice(0, 100)
  return /^\p{Lu}(?!\p{Lu})/u.test(bare) ? bare.charAt(0).toLowerCase() + bare.slice(1) : bare
}

/** Asks for what a call lacks: "the city", "the account (checking or savings)". */
export function question(missing: readonly Parameter[]): string {
  const asked = missing.slice(0, 5).map(({ name, choices, schema: { description } }) => {
    const label = labelOf(name)
    const isSmall = prepositions.has(label)
    const told = isSmall && typeof description === 'string' ? short(description) : ''
    const about = choices.length > 1 ? listed(choices.slice(0, 6).map(String), 'or') : told
    return `${isSmall ? `"${label}"` : `the ${label}`}${about ? ` (${about})` : ''}`
  })
  return `Please tell me ${listed(asked)}.`
}
