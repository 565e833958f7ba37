// Replies without a tool: greetings, abilities, and questions for missing arguments.
import { joinWords, labelOf } from './answer-text.ts'
import { type DeclaredTool, type Parameter, toPlainText } from './declared-tool.ts'
import type { Toolbox } from './tasks.ts'
import { isVerb, prepositions, stem, tokenize } from './words.ts'

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

/** Answers a message that is only a greeting or thanks; undefined for other messages. */
export function answerSmallTalk(message: string, can: string): string | undefined {
  const words = tokenize(message.slice(0, 100)).map(({ lower }) => lower)
  return answers.find(([said]) => said.test(words.join(' ')))?.[1](can)
}

/** The reply to a message without a matching tool. */
export const notUnderstoodText = (can: string): string => `Sorry, I did not understand that. ${SELF} ${can}`

/** Describes the tools and the agents that can take over. */
export function describeAbilities({ tools, agents }: Toolbox): string {
  const handing = agents.map(({ name, description }) => `hand over to ${name}${inBrackets(firstClause(description))}`)
  const all = [...tools.map(describeAbility), ...handing]
  return all.length ? `I can ${joinWords(all.slice(0, MAX_NAMED), 'or')}.` : 'I have no tools here.'
}

/** Uses the description when it starts with a verb, else the name. */
function describeAbility({ name, description }: DeclaredTool): string {
  const text = firstClause(description)
  const first = stem(text.split(' ')[0] ?? '')
  if (isVerb(first) || first === stem(name)) return text
  return `ask ${labelOf(name)}${inBrackets(text)}`
}

const inBrackets = (text: string): string => text && ` (${text})`

/** The first sentence of a description, to be used inside a sentence. */
function firstClause(description: string): string {
  const [first = ''] = description.trim().split(/[.!?](?:\s|$)|\n/)
  return /^\p{Lu}(?!\p{Lu})/u.test(first) ? first.charAt(0).toLowerCase() + first.slice(1, 100) : first.slice(0, 100)
}

/** Asks for missing arguments: "the city", "the account (checking or savings)". */
export function askForMissing(missing: readonly Parameter[]): string {
  const asked = missing.slice(0, 5).map(({ name, choices }) => {
    const label = labelOf(name)
    const about = inBrackets(joinWords(choices.slice(0, 6).map(toPlainText), 'or'))
    return `${prepositions.has(label) ? `"${label}"` : `the ${label}`}${about}`
  })
  return `Please tell me ${joinWords(asked)}.`
}
