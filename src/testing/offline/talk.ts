// What it says without a tool: greetings, what it can do, and what it still needs to know.
import { labelOf, listed } from './answer.ts'
import { type Declared, type Parameter, plain } from './parameters.ts'
import type { Toolbox } from './tasks.ts'
import { isVerb, prepositions, stem, tokensOf } from './words.ts'

const MAX_NAMED = 8
const SELF = "I am Toolwright's offline model: rules instead of a language model, so that this works without a key."

const answers: readonly (readonly [said: RegExp, answer: (can: string) => string])[] = [
  [/^(?:hello|hi|hey|good (?:morning|day|afternoon|evening))(?: \S+)?$/, (can) => `Hello! ${can}`],
  [/^(?:\S+ )?(?:thanks|thank you)\b.{0,40}$/, () => "You're welcome!"],
  [/^(?:bye|goodbye|good night|see you)\b.{0,20}$/, () => 'Goodbye!'],
  [/^(?:great|cool|nice|perfect|good|fine|ok|okay|well done|yes|no)(?: job)?$/, () => 'All right. What else can I do?'],
  [/^(?:who|what) are you$/, (can) => `${SELF} ${can}`],
  [/^help(?: me)?$|^what can (?:you|i) (?:do|ask)(?: for me)?$/, (can) => `${can} Ask in plain words.`],
]

/** Greetings and thanks, whole messages only; undefined for anything else. */
export function smallTalk(message: string, can: string): string | undefined {
  const words = tokensOf(message.slice(0, 100)).map(({ lower }) => lower)
  return answers.find(([said]) => said.test(words.join(' ')))?.[1](can)
}

export const notUnderstood = (can: string): string => `Sorry, I did not understand that. ${SELF} ${can}`

/** What its tools do, and whom it can hand over to. */
export function abilities({ tools, agents }: Toolbox): string {
  const handing = agents.map(({ name, description }) => `hand over to ${name}${inBrackets(short(description))}`)
  const all = [...tools.map(abilityOf), ...handing]
  return all.length ? `I can ${listed(all.slice(0, MAX_NAMED), 'or')}.` : 'I have no tools here.'
}

/** A description that begins with a verb says it; else the name does. */
function abilityOf({ name, description }: Declared): string {
  const text = short(description)
  const first = stem(text.split(' ')[0] ?? '')
  if (isVerb(first) || first === stem(name)) return text
  return `ask ${labelOf(name)}${inBrackets(text)}`
}

const inBrackets = (text: string): string => text && ` (${text})`

/** The first sentence, as one goes on with it. */
function short(description: string): string {
  const [first = ''] = description.trim().split(/[.!?](?:\s|$)|\n/)
  return /^\p{Lu}(?!\p{Lu})/u.test(first) ? first.charAt(0).toLowerCase() + first.slice(1, 100) : first.slice(0, 100)
}

/** Asks for what a call lacks: "the city", "the account (checking or savings)". */
export function question(missing: readonly Parameter[]): string {
  const asked = missing.slice(0, 5).map(({ name, choices }) => {
    const label = labelOf(name)
    const about = inBrackets(listed(choices.slice(0, 6).map(plain), 'or'))
    return `${prepositions.has(label) ? `"${label}"` : `the ${label}`}${about}`
  })
  return `Please tell me ${listed(asked)}.`
}
