import { shortHash } from './short-hash.ts'

/** A parameter that needs the name of an argument. */
interface NamedParameter {
  /** The name in the request. */
  readonly name: string
  /** Where it is sent. */
  readonly in: string
}

const ARGUMENT_NAME = /^[a-zA-Z0-9_.-]{1,64}$/

/**
 * The name of the argument for each parameter. A parameter keeps its name if models can write it. Parameters that clash get
 * their location as a suffix. `hasBody` reserves the name `body`.
 */
export function chooseArgumentNames<T extends NamedParameter>(
  parameters: readonly T[],
  { hasBody }: { readonly hasBody: boolean },
): Map<T, string> {
  const plain = parameters.map((parameter) => [parameter, toArgumentName(parameter.name)] as const)
  const counts = new Map<string, number>(hasBody ? [['body', 1]] : [])
  for (const [, name] of plain) counts.set(name, (counts.get(name) ?? 0) + 1)
  const names = new Map<T, string>()
  const taken = new Set<string>(hasBody ? ['body'] : [])
  for (const [parameter, name] of plain)
    if (counts.get(name) === 1) {
      names.set(parameter, name)
      taken.add(name)
    }
  for (const [parameter, base] of plain) {
    if (names.has(parameter)) continue
    let name = withSuffix(base, `_${parameter.in}`)
    if (taken.has(name)) name = withSuffix(base, `_${shortHash(`${parameter.in} ${parameter.name}`)}`)
    for (let i = 2; taken.has(name); i++) name = withSuffix(base, `_${i}`)
    names.set(parameter, name)
    taken.add(name)
  }
  return names
}

/** Is the name fit for an argument as it is? */
export function isPlainArgumentName(name: string): boolean {
  return ARGUMENT_NAME.test(name) && name !== '__proto__'
}

/** `filter[name]` becomes `filter_name`. `__proto__` is renamed, because code may read it as the prototype. */
function toArgumentName(name: string): string {
  if (isPlainArgumentName(name)) return name
  const plain =
    name
      .slice(0, 200)
      .replace(/[^a-zA-Z0-9_.-]+/g, '_')
      .replace(/^_+|_+$/g, '') || 'parameter'
  return name.length > 64 ? withSuffix(plain, `_${shortHash(name)}`) : plain
}

function withSuffix(base: string, suffix: string): string {
  return base.slice(0, 64 - suffix.length) + suffix
}
