import { isRecord } from '../../base/json.ts'
import type { FunctionDeclaration } from '../../content/content.ts'
import type { LlmRequestConfig } from '../../tool/wire.ts'
import { type Parameter, parametersOf } from './parameters.ts'
import { isVerb } from './verbs.ts'
import { isContent, nameWords, stem, tokensOf } from './words.ts'

/** A tool of the request, or an agent one can hand over to, as the words one asks for it with. */
export interface Declared {
  readonly name: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  /** The stems of its name. */
  readonly nameStems: ReadonlySet<string>
  /** How much each stem speaks for it. */
  readonly weights: ReadonlyMap<string, number>
}

const WEIGHT = { name: 3, verb: 1.5, choice: 2, parameter: 1.4, description: 1.2, about: 0.6 }
const MAX_DESCRIPTION = 2_000

/** The declarations of a request, each name once. */
export function declarationsOf({ tools }: LlmRequestConfig): FunctionDeclaration[] {
  const found = new Map<string, FunctionDeclaration>()
  for (const entry of tools ?? []) {
    for (const declaration of entry.functionDeclarations ?? []) {
      if (isRecord(declaration) && typeof declaration.name === 'string') found.set(declaration.name, declaration)
    }
  }
  return [...found.values()]
}

export function declaredOf(declaration: Partial<FunctionDeclaration> & { name: string }): Declared {
  const { name, parametersJsonSchema } = declaration
  const description = typeof declaration.description === 'string' ? declaration.description : ''
  const parameters = parametersOf(parametersJsonSchema)
  const weights = new Map<string, number>()
  const add = (stems: Iterable<string>, weight: number): void => {
    for (const one of stems) if ((weights.get(one) ?? 0) < weight) weights.set(one, weight)
  }
  for (const { words, about, choices } of parameters) {
    add(about, WEIGHT.about)
    add(words, WEIGHT.parameter)
    for (const choice of choices.slice(0, 50))
      if (typeof choice === 'string') add(stems(nameWords(choice)), WEIGHT.choice)
  }
  for (const one of stems(tokensOf(description.slice(0, MAX_DESCRIPTION)).map(({ lower }) => lower)))
    add([one], isVerb(one) ? WEIGHT.about : WEIGHT.description)
  const own = stems(nameWords(name))
  const nameStems = new Set(own)
  for (const one of own) add([one], own.length > 1 && isVerb(one) ? WEIGHT.verb : WEIGHT.name) // `order` of `find_order` tells
  return { name, description, parameters, nameStems, weights }
}

function stems(words: readonly string[]): string[] {
  return words
    .map((lower) => ({ lower, stem: stem(lower) }))
    .filter(isContent)
    .map(({ stem }) => stem)
}
