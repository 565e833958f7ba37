import { kindOf } from '../../../core/base/kind-of.ts'
import { textOf } from '../../../core/content/content.ts'
import { messageOf, ToolwrightError } from '../../../core/error/error.ts'
import type { ReadonlyContext } from '../../context/context.ts'
import type { Instruction } from '../agents/llm-agent-options.ts'

const PLACEHOLDER = /\{(artifact\.[^{}?]+|(?:app:|user:|temp:|derived:)?[A-Za-z_][A-Za-z0-9_]*)(\?)?\}/g

/** The text of an instruction without placeholders. Undefined if the text can change. */
export function constantText(instruction: Instruction | undefined): { text: string | undefined } | undefined {
  if (typeof instruction === 'function') return undefined
  return instruction === undefined || instruction.search(PLACEHOLDER) < 0 ? { text: instruction } : undefined
}

/**
 * The current text of an instruction. Placeholders are filled from state and artifacts, but not in the text of a
 * function.
 */
export async function fillInstruction(
  instruction: Instruction | undefined,
  context: ReadonlyContext,
): Promise<string | undefined> {
  if (typeof instruction === 'function') return checkText(await instruction(context), context)
  if (instruction === undefined) return undefined
  let filled = ''
  let at = 0
  for (const found of instruction.matchAll(PLACEHOLDER)) {
    const [whole, name = '', optional] = found
    filled += instruction.slice(at, found.index) + (await fillPlaceholder(name, optional === '?', context))
    at = found.index + whole.length
  }
  return filled + instruction.slice(at)
}

function checkText(text: unknown, { invocation }: ReadonlyContext): string {
  if (typeof text === 'string') return text
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `The instruction function of agent "${invocation.agentName}" returned ${kindOf(text)}. Return a string, or '' for no instruction.`,
  )
}

async function fillPlaceholder(name: string, isOptional: boolean, context: ReadonlyContext): Promise<string> {
  const isArtifact = name.startsWith('artifact.')
  const value = isArtifact ? await loadText(name.slice(9), context) : context.state.get(name)
  if (value !== undefined && value !== null) return typeof value === 'string' ? value : JSON.stringify(value)
  if (isOptional) return ''
  const problem = isArtifact ? 'there is no such artifact. Save it' : 'the state has no such key. Set the key'
  throw new ToolwrightError(
    'INVALID_CONFIG',
    `The instruction of agent "${context.invocation.agentName}" needs {${name}}, but ${problem}, or write {${name}?} if it may be missing.`,
  )
}

async function loadText(filename: string, { invocation }: ReadonlyContext): Promise<string | undefined> {
  const { artifacts } = invocation.services
  if (!artifacts) {
    throw new ToolwrightError(
      'INVALID_CONFIG',
      `The instruction of agent "${invocation.agentName}" needs {artifact.${filename}}, but the Runner has no artifactService. Set one.`,
    )
  }
  try {
    const part = await artifacts.load(filename)
    return part && textOf({ role: 'user', parts: [part] })
  } catch (error) {
    throw new ToolwrightError('STORAGE', `Artifact "${filename}" could not be read: ${messageOf(error)}`, {
      cause: error,
    })
  }
}
