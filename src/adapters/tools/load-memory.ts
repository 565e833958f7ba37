import { textOf } from '../../core/content/content.ts'
import { tool } from '../../engine/tool/define-tool.ts'
import type { Tool } from '../../engine/tool/tool.ts'
import type { MemoryEntry } from '../../services/memory/service.ts'
import { truncate } from './shorten-text.ts'

const MAX_ENTRIES = 20
/** Maximum length of one entry, so that all entries stay below the default size limit of a result. */
const MAX_TEXT_LENGTH = 8_000

/**
 * `load_memory`: the model searches the user's earlier sessions. Needs a memory service.
 *
 * @example
 * const agent = new LlmAgent({ name: 'assistant', model, tools: [loadMemory()] })
 * const runner = new Runner({ appName: 'app', agent, memoryService: new InMemoryMemoryService() })
 */
export function loadMemory(): Tool {
  return tool({
    name: 'load_memory',
    description: `Search earlier conversations with this user. Returns up to ${MAX_ENTRIES} matches, the best first.`,
    parameters: {
      type: 'object',
      properties: {
        query: {
          type: 'string',
          description: 'The words to search for. Use words that the conversation is likely to contain.',
        },
      },
      required: ['query'],
    },
    effect: 'none',
    run: async ({ query }, context) => ({
      memories: (await context.searchMemory(query)).flatMap(showEntry).slice(0, MAX_ENTRIES),
    }),
  })
}

/** An entry with only its visible text: no media, which would be base64 inside JSON, and no thoughts. */
function showEntry({ content, author, timestamp }: MemoryEntry): MemoryEntry[] {
  const text = textOf(content)
  if (text === '') return []
  return [
    {
      content: { role: content.role, parts: [{ text: truncate(text, MAX_TEXT_LENGTH) }] },
      ...(author !== undefined && { author }),
      ...(timestamp !== undefined && { timestamp }),
    },
  ]
}
