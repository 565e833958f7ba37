// The function tools of google-adk's documentation as plain functions. They keep their names.
import { type ToolContext, type ToolSource, tool } from 'toolwright'

// In Python `int`. TypeScript has one type of numbers, so a tag says that they are whole.
/** @multipleOf 1 */
type Integer = number

/** Add two integers. */
function add(a: Integer, b: Integer): number {
  return a + b
}

/**
 * List files in a given folder.
 * @param folder The folder path.
 */
function list_files(folder: string, tool_context: ToolContext): { files: string[]; count: number } {
  tool_context.state.set('last_listed', folder)
  return { files: ['a.txt', 'b.txt'], count: 2 }
}

/** Irreversibly wipes data. */
function wipe_all(scope: string): { wiped: boolean } {
  return { wiped: scope !== '' }
}

async function kick_off_build(project: string): Promise<{ status: string; job_id: string }> {
  return { status: 'pending', job_id: `build of ${project}` }
}

// In Python a Pydantic model.
interface ResearchIn {
  topic: string
}

/** Research the topic. */
function research(research_in: ResearchIn): { findings: string } {
  return { findings: `All about ${research_in.topic}.` }
}

/** All tools of the documentation. */
export const tools: readonly ToolSource[] = [
  add,
  tool(add, { name: 'confirmed_add', requiresConfirmation: true }), // the documentation has two tools of one name
  list_files,
  tool(wipe_all, { requiresConfirmation: ({ scope }) => scope !== 'dry-run' }),
  tool(kick_off_build, { description: 'Start a build.', isLongRunning: true }), // it has no docstring
  research,
]
