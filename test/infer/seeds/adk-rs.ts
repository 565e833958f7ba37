// What a #[tool] function of adk-rs can do with its context, as plain functions. The names are those of the fields.
import { type ToolContext, type ToolSource, tool } from 'toolwright'

/**
 * Save a text as an artifact.
 * @param filename Name of the artifact
 */
async function save_artifact(filename: string, text: string, ctx: ToolContext): Promise<{ version: number }> {
  return { version: await ctx.saveArtifact(filename, { text }) }
}

/**
 * Load an artifact.
 * @param version Latest version when absent
 */
async function load_artifact(ctx: ToolContext, filename: string, version?: number): Promise<{ text: string | null }> {
  return { text: (await ctx.loadArtifact(filename, version))?.text ?? null }
}

/** Write a key of the session state. */
function state_delta(key: string, ctx: ToolContext, value: unknown): { call: string } {
  ctx.state.set(key, value)
  return { call: ctx.functionCallId }
}

/** Hand the conversation over to another agent. */
function hand_over(name: string, ctx: ToolContext): void {
  ctx.transferToAgent(name)
}

/** Leave the loop. */
function escalate(ctx: ToolContext): void {
  ctx.actions.escalate = true
}

/** Answer the user without another model call. */
function skip_summarization(ctx: ToolContext): { answer: string } {
  ctx.actions.skipSummarization = true
  return { answer: 'done' }
}

/** Start work that takes long. */
function long_running(ctx: ToolContext): { handle: string } {
  ctx.longRunning = true
  return { handle: 'job-1' }
}

/** Drop a table. */
function drop_table(table: string): { dropped: string } {
  return { dropped: table }
}

/** All tools. */
export const tools: readonly ToolSource[] = [
  save_artifact,
  load_artifact,
  state_delta,
  hand_over,
  escalate,
  skip_summarization,
  long_running,
  tool(drop_table, {
    requiresConfirmation: ({ table }) => table !== 'scratch',
    confirmationHint: ({ table }) => `Drop ${table}?`,
  }),
]
