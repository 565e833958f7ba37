// Decides which patterns the native regular expression engine matches in linear time.
import type { Tree } from './parse-pattern.ts'
import type { Program, Step } from './program.ts'

/** The longest pattern for the native engine, which takes long to read some longer patterns. */
const MAX_SOURCE = 1_000

/** Maximum number of steps of a pattern that is tried at each position. */
const MAX_FLOATING_SIZE = 64

/** Does the native engine match the pattern in linear time, with the same result? */
export function isSafeForNativeEngine(source: string, tree: Tree, { steps, lookarounds, size }: Program): boolean {
  if (lookarounds.length > 0 || source.length > MAX_SOURCE || !isUnambiguous(steps)) return false
  if (isAnchored(tree)) return true
  // The engine tries the pattern at each position, where it must read no more than the length of the pattern. (V8 also
  // finds word boundaries between the halves of a character.)
  return size <= MAX_FLOATING_SIZE && !repeatsForever(tree) && !steps.some(isBoundary)
}

function isBoundary(step: Step): boolean {
  return step.type === 'assertion' && (step.kind === 'boundary' || step.kind === 'inside')
}

/** Can the pattern match at the start of the text only? */
export function isAnchored(tree: Tree): boolean {
  if (tree.type === 'assertion') return tree.kind === 'start'
  if (tree.type === 'choice') return tree.parts.every(isAnchored)
  return tree.type === 'sequence' && tree.parts[0] !== undefined && isAnchored(tree.parts[0])
}

function repeatsForever(tree: Tree): boolean {
  if (tree.type === 'repeat') return tree.max === Number.POSITIVE_INFINITY || repeatsForever(tree.body)
  return (tree.type === 'sequence' || tree.type === 'choice') && tree.parts.some(repeatsForever)
}

const MAX_PATHS = 50_000

/**
 * Does the next character always decide which step follows? From the start, and after each character, all steps that can
 * follow must accept different characters. Then backtracking ends at once: only one step accepts the character that the
 * engine returns to. The time of the engine is linear.
 */
function isUnambiguous(steps: readonly Step[]): boolean {
  let paths = 0
  const isDecided = (from: number): boolean => {
    const taken = [0, 0, 0, 0]
    let hasBeyond = false
    const reached = new Set<number>()
    const open = [from]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (reached.has(at) || ++paths > MAX_PATHS) return false
      reached.add(at)
      const step = steps[at] as Step
      if (step.type === 'fork') open.push(step.first, step.second)
      else if (step.type === 'jump') open.push(step.to)
      else if (step.type === 'assertion') open.push(at + 1)
      else if (step.type === 'character') {
        for (let i = 0; i < 4; i++) {
          const accepted = step.is.ascii[i] as number
          if (((taken[i] as number) & accepted) !== 0) return false
          ;(taken[i] as number) |= accepted
        }
        if (step.is.beyond && hasBeyond) return false
        if (step.is.beyond) hasBeyond = true
      }
    }
    return true
  }
  return isDecided(0) && steps.every((step, at) => step.type !== 'character' || isDecided(at + 1))
}
